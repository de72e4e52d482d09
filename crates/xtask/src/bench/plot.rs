//! One plot per contest, as SVG: bars of medians, with a line from the least to the most.

use std::fmt::Write;

use super::contest::{Contest, Entry, Kind};
use super::results::Results;
use super::spread::Spread;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 56.0;
const ROW: f64 = 24.0;
const BAR: f64 = 14.0;

/// A bar so many times as long as the middle one is cut.
const CUT: f64 = 6.0;

/// A bar.
struct Row<'a> {
    entry: &'a Entry,
    spread: Spread,
}

/// What the bars are: the time of a unit in memory, or the CPU time of a request.
pub(super) fn svg(contest: &Contest, results: &Results) -> String {
    let rows: Vec<Row<'_>> =
        contest.entries.iter().filter_map(|entry| row(contest, entry, results)).collect();
    let most = most(&rows);
    let height = TOP + ROW * rows.len() as f64 + 12.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>\n\
         <text x=\"12\" y=\"40\" fill=\"#555\">{}; median, and from the least to the most</text>\n",
        contest.title,
        unit(contest.kind)
    );
    for (place, row) in rows.iter().enumerate() {
        push_row(&mut text, row, TOP + ROW * place as f64, most);
    }
    text.push_str("</svg>\n");
    text
}

/// What the full width stands for: the longest bar that is not out of all proportion to the others.
fn most(rows: &[Row<'_>]) -> f64 {
    let medians = || rows.iter().map(|row| row.spread.median);
    let middle = Spread::of(medians()).map_or(1.0, |spread| spread.median);
    medians().filter(|median| *median <= CUT * middle).fold(0.0, f64::max)
}

fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Memory { .. } => "nanoseconds each",
        Kind::Client(_) => "microseconds of the client's CPU per request",
        Kind::Server(_) => "microseconds of the server's CPU per request",
    }
}

fn row<'a>(contest: &Contest, entry: &'a Entry, results: &Results) -> Option<Row<'a>> {
    let figures = results.get(contest, entry);
    let spread = match contest.kind {
        Kind::Memory { .. } => Spread::of(figures.wall),
        _ => Spread::of(figures.cpu.iter().map(|cpu| cpu / 1000.0)),
    };
    Some(Row { entry, spread: spread? })
}

/// A bar longer than the width is cut, and says so; so is a line, at the edge.
fn push_row(text: &mut String, row: &Row<'_>, top: f64, width: f64) {
    let Spread { median, least, most } = row.spread;
    let full = WIDTH - LEFT - RIGHT;
    let at = |figure: f64| LEFT + full * (figure / width).min(1.08);
    let (shown, mark) = if median > width { (width, " (cut)") } else { (median, "") };
    let (base, middle) = (top + BAR - 2.0, top + BAR / 2.0);
    let colour = match row.entry.peer {
        "alula" => "#2563a8",
        "floor" => "#b8b8b8",
        _ => "#8aa9c9",
    };
    writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>\n\
         <rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>\n\
         <path d=\"M{:.1} {middle:.1}H{:.1}\" stroke=\"#222\" stroke-width=\"1.5\"/>\n\
         <text x=\"{:.1}\" y=\"{base:.1}\">{}{mark}</text>",
        LEFT - 8.0,
        row.entry.label,
        full * shown / width,
        at(least),
        at(most),
        at(shown).max(at(most)) + 6.0,
        short(median)
    )
    .expect("a String takes any text");
}

fn short(figure: f64) -> String {
    if figure < 100.0 { format!("{figure:.2}") } else { format!("{figure:.0}") }
}

#[cfg(test)]
mod tests {
    use super::super::contest::{self, By};
    use super::super::options::Options;
    use super::*;

    #[test]
    fn the_longest_bar_is_as_wide_as_the_picture_lets_it() {
        let options = Options::parse(&["--only", "nghttp2"]).expect("valid options");
        let contests = contest::chosen(&options).expect("a peer");
        let (contest, mut results) = (&contests[0], Results::default());
        for (entry, wall) in contest.entries.iter().zip([100.0, 50.0, 60.0, 200.0]) {
            results.of(contest, entry).wall = vec![wall];
        }
        let svg = svg(contest, &results);
        assert_eq!(contest.entries[3].by, By::Nghttp2);
        assert!(svg.contains("width=\"440.0\"") && svg.contains("width=\"220.0\""), "{svg}");
        results.of(contest, &contest.entries[3]).wall = vec![2000.0];
        assert!(self::svg(contest, &results).contains(">2000 (cut)</text>"));
        assert!(svg.contains(">nghttp2</text>") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
