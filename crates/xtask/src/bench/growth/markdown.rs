//! The section of `docs/performance.md` about growth.

use std::fmt::Write;

use anyhow::Result;

use super::super::spread::Spread;
use super::super::table::{fine, spread};
use super::super::versions;
use super::super::works::machine;
use super::figures::{Figures, Measure, Point, WHO, Way};

/// The sizes that the goal compares, and the most that it allows.
const GOAL: (u64, u64, f64) = (10, 5000, 1.4);

/// The machine and the versions, the goal, then a plot and a table for each way and measure.
pub(super) fn markdown(figures: &Figures, rounds: usize) -> Result<String> {
    let mut text = format!(
        "n = {rounds} rounds; median (least–most). {}. {}\n\n{}",
        machine()?,
        versions::of_servers()?,
        goal(figures)
    );
    for way in Way::ALL {
        write!(text, "\n### {}\n", way.title())?;
        for measure in Measure::ALL {
            let plot = way.plot(measure);
            write!(text, "\n![{}](plots/{plot}.svg)\n\n{}\n\n", measure.title(), measure.title())?;
            text += &table(figures, way, measure);
        }
    }
    Ok(text)
}

/// The time of a request with many connections beside few.
fn goal(figures: &Figures) -> String {
    let (from, to, most) = GOAL;
    let mut text = format!("| CPU per request at {to} connections × that at {from} | ");
    text += &WHO.map(|who| who.label()).join(" | ");
    text += " | goal for Alula |\n| --- |";
    text += &" ---: |".repeat(WHO.len() + 1);
    for way in [Way::Http2Connections, Way::Http1Connections] {
        let growth = WHO.map(|who| spread(figures.growth(who, way, from, to), fine));
        let goal = if way.is_http2() { format!("{most:.1}") } else { "–".to_owned() };
        write!(text, "\n| {} | {} | {goal} |", way.title(), growth.join(" | ")).expect("a String");
    }
    text + "\n"
}

fn table(figures: &Figures, way: Way, measure: Measure) -> String {
    let columns = " ---: |".repeat(WHO.len() + 1);
    let mut text = format!("| | {} |\n|{columns}\n", WHO.map(|who| who.label()).join(" | "));
    for size in way.sizes() {
        let cells = WHO.map(|who| cell(figures.get(Point { way, size, who }, measure)));
        writeln!(text, "| {size} | {} |", cells.join(" | ")).expect("a String");
    }
    text
}

fn cell(figure: Option<Spread>) -> String {
    spread(figure, fine)
}

#[cfg(test)]
mod tests {
    use super::super::super::holding::Who;
    use super::*;

    #[test]
    fn every_size_has_a_row() {
        let mut figures = Figures::default();
        for size in [10, 5000] {
            figures.add(Point { way: Way::Http2Connections, size, who: Who::Alula }, size as f64, 2.0);
        }
        let text = table(&figures, Way::Http2Connections, Measure::Cpu);
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(goal(&figures).contains("500.00 (500.00–500.00)"), "{}", goal(&figures));
    }
}
