//! One table per contest.

use std::fmt::Write;

use super::contest::{Contest, Entry, Kind};
use super::goals::{Goal, in_row};
use super::results::{Figures, Results};
use super::spread::Spread;
use crate::costs::table::thousands;

/// The table of a contest in Markdown.
pub(super) fn markdown(contest: &Contest, results: &Results, goals: &[Goal]) -> String {
    let columns = columns(contest.kind);
    let mut text = format!("| {} |\n|", columns.join(" | "));
    for column in columns {
        text.push_str(if ["who", "goal"].contains(column) { " --- |" } else { " ---: |" });
    }
    text.push('\n');
    // What CPU time is told in multiples of.
    let ones = [results.floor(contest, "block"), results.own(contest)];
    for entry in &contest.entries {
        let figures = results.get(contest, entry);
        let goal = in_row(goals, contest, entry);
        writeln!(text, "| {} |", cells(contest.kind, entry, &figures, &ones, goal).join(" | "))
            .expect("a String takes any text");
    }
    text
}

fn columns(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Memory { .. } => &["who", "ns", "instructions", "allocations", "goal"],
        _ => &[
            "who",
            "per second",
            "CPU, µs",
            "CPU, × the floor",
            "CPU, × Alula",
            "instructions",
            "allocations",
            "goal",
        ],
    }
}

fn cells(kind: Kind, entry: &Entry, figures: &Figures, ones: &[Vec<f64>], goal: String) -> Vec<String> {
    let mut cells = vec![entry.label.to_owned()];
    match kind {
        Kind::Memory { .. } => cells.push(spread(Spread::of(figures.wall.iter().copied()), whole)),
        _ => {
            let per_second = figures.wall.iter().map(|wall| 1e9 / wall);
            cells.push(spread(Spread::of(per_second), thousands));
            let micros = figures.cpu.iter().map(|cpu| cpu / 1000.0);
            cells.push(spread(Spread::of(micros), fine));
            cells.extend(ones.iter().map(|one| spread(Spread::of_ratios(&figures.cpu, one), fine)));
        }
    }
    cells.push(figures.instructions.map_or("–".into(), thousands));
    cells.push(figures.allocations.map_or("–".into(), few));
    cells.push(goal);
    cells
}

/// `median (least–most)`.
pub(super) fn spread(spread: Option<Spread>, print: impl Fn(f64) -> String) -> String {
    let Some(Spread { median, least, most }) = spread else { return "–".into() };
    format!("{} ({}–{})", print(median), print(least), print(most))
}

/// Allocations: to the hundredth, so what a start has left does not show, nor does −0.
pub(super) fn few(figure: f64) -> String {
    let text = format!("{:.2}", figure.max(0.0));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn whole(figure: f64) -> String {
    if figure < 10.0 { format!("{figure:.1}") } else { thousands(figure) }
}

pub(super) fn fine(figure: f64) -> String {
    format!("{figure:.2}")
}

#[cfg(test)]
mod tests {
    use super::super::contest::chosen;
    use super::super::options::Options;
    use super::*;

    #[test]
    fn a_spread_is_in_brackets() {
        let own = Spread { median: 1234.4, least: 9.96, most: 20_000.0 };
        assert_eq!(spread(Some(own), whole), "1,234 (10.0–20,000)");
        assert_eq!(spread(None, whole), "–");
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let options = Options::parse(&["--only", "ureq"]).expect("valid options");
        let (contests, mut results) = (chosen(&options).expect("a peer"), Results::default());
        let contest = &contests[0];
        for (label, cpu) in [("floor, blocking", 5000.0), ("Alula", 10_000.0), ("ureq", 15_000.0)] {
            results.of(contest, contest.entry(label).expect("it takes part")).cpu = vec![cpu];
        }
        let table = markdown(contest, &results, &[]);
        let columns: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [9; 7], "{table}");
        let row = "| ureq | – | 15.00 (15.00–15.00) | 3.00 (3.00–3.00) | 1.50 (1.50–1.50) | – | – |  |";
        assert_eq!(table.lines().last(), Some(row));
    }

    #[test]
    fn nothing_is_no_fraction() {
        assert_eq!([0.0, -0.001, 0.004, 3.0, 2.532].map(few), ["0", "0", "0", "3", "2.53"]);
    }
}
