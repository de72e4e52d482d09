//! The plot of a file of data, as SVG: a panel of bars for each contest, by its first measure that has
//! figures, with a line from the least to the most.

use std::fmt::Write;

use super::data::{Data, Row};
use super::results::{is_floor, is_ours};
use super::spread::Spread;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 130.0;
const HEAD: f64 = 34.0;
const ROW: f64 = 16.0;
const BAR: f64 = 10.0;

/// A bar so many times as long as the middle one is cut.
const CUT: f64 = 6.0;

/// Contests that are drawn at most: others are in the data.
const PANELS: usize = 24;

/// Draws the panels, one below the other.
pub(crate) fn svg(data: &Data) -> String {
    let place = place(data);
    let mut contests: Vec<&str> = data.rows.iter().map(|row| &*row.contest).collect();
    contests.dedup();
    let (mut body, mut top) = (String::new(), 28.0);
    let step = contests.len().div_ceil(PANELS).max(1);
    for contest in contests.into_iter().step_by(step) {
        let rows = data.rows.iter().filter(|row| row.contest == contest);
        let bars: Vec<(&Row, Spread)> =
            rows.filter_map(|row| Some((row, (*row.figures.get(place)?)?))).collect();
        if bars.is_empty() {
            continue;
        }
        writeln!(body, "<text x=\"8\" y=\"{:.0}\" font-weight=\"bold\">{contest}</text>", top + 20.0)
            .expect("a String");
        push_bars(&mut body, &bars, top + HEAD);
        top += HEAD + ROW * bars.len() as f64;
    }
    let measure = data.measures.get(place).map_or("", String::as_str);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"18\" fill=\"#555\">{measure}: median, and from the least to the most</text>\n{body}</svg>\n",
        top + 12.0
    )
}

/// The column of processor time where there is one, else the first.
fn place(data: &Data) -> usize {
    data.measures.iter().position(|measure| measure.starts_with("CPU")).unwrap_or(0)
}

/// A bar longer than the width is cut, and says so; so is a line, at the edge.
fn push_bars(text: &mut String, bars: &[(&Row, Spread)], top: f64) {
    let width = longest(bars);
    let full = WIDTH - LEFT - RIGHT;
    let at = |figure: f64| LEFT + full * (figure / width).clamp(0.0, 1.08);
    for (line, (row, Spread { median, least, most })) in bars.iter().enumerate() {
        let top = top + ROW * line as f64;
        let (shown, mark) = if *median > width { (width, " (cut)") } else { (*median, "") };
        let (base, middle) = (top + BAR, top + BAR / 2.0);
        writeln!(
            text,
            "<text x=\"{:.0}\" y=\"{base:.0}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LEFT}\" y=\"{top:.0}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{}\"/>\
             <path d=\"M{:.1} {middle:.1}H{:.1}\" stroke=\"#222\"/>\
             <text x=\"{:.1}\" y=\"{base:.0}\">{}{mark}</text>",
            LEFT - 8.0,
            row.who.trim_matches('`'),
            full * (shown / width).max(0.0),
            colour(&row.who),
            at(*least),
            at(*most),
            at(shown).max(at(*most)) + 6.0,
            short(*median)
        )
        .expect("a String");
    }
}

/// The figure that the full width stands for: the longest bar that is not out of all proportion to the
/// others.
fn longest(bars: &[(&Row, Spread)]) -> f64 {
    let medians = || bars.iter().map(|(_, spread)| spread.median);
    let middle = Spread::of(medians()).map_or(1.0, |spread| spread.median);
    medians().filter(|median| *median <= CUT * middle).fold(f64::MIN_POSITIVE, f64::max)
}

fn colour(who: &str) -> &'static str {
    match who {
        _ if is_ours(who) => "#2563a8",
        _ if is_floor(who) => "#b8b8b8",
        _ => "#8aa9c9",
    }
}

fn short(figure: f64) -> String {
    if figure < 100.0 { format!("{figure:.2}") } else { format!("{figure:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(figures: &[(&str, f64)]) -> Data {
        let spread = |median| Some(Spread { median, least: median, most: median });
        let row = |(who, median): &(&str, f64)| Row {
            contest: "one".into(),
            who: (*who).to_owned(),
            figures: vec![None, spread(*median)],
        };
        let measures = ["per second", "CPU, µs"].map(str::to_owned).to_vec();
        Data { measures, rows: figures.iter().map(row).collect() }
    }

    #[test]
    fn the_longest_bar_is_as_wide_as_the_picture_lets_it() {
        let svg = svg(&data(&[("Alula", 100.0), ("hyper", 50.0), ("Go", 60.0), ("nghttp2", 200.0)]));
        assert!(svg.contains("width=\"440.0\"") && svg.contains("width=\"220.0\""), "{svg}");
        assert!(svg.contains(">nghttp2</text>") && svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn a_bar_out_of_all_proportion_is_cut() {
        let svg = svg(&data(&[("Alula", 100.0), ("hyper", 50.0), ("Go", 60.0), ("nghttp2", 2000.0)]));
        assert!(svg.contains(">2000 (cut)</text>"), "{svg}");
    }
}
