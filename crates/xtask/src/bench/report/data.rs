//! A file of data: one line for each who takes part in a contest, with the median, the least and the most of
//! each measure.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use super::results::Results;
use super::spread::Spread;

/// The file, read.
#[derive(Debug, PartialEq)]
pub(crate) struct Data {
    pub(crate) measures: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A line of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) contest: String,
    pub(crate) who: String,
    pub(crate) figures: Vec<Option<Spread>>,
}

/// Makes the file of a run: the heading in a comment, the names of the columns, and the lines.
pub(crate) fn text(heading: &str, results: &Results) -> String {
    let mut text = format!("# {heading}\ncontest,who");
    for measure in results.measures() {
        let name = measure.name;
        [name.to_owned(), format!("{name}: least"), format!("{name}: most")]
            .iter()
            .for_each(|column| text += &format!(",{}", quoted(column)));
    }
    text.push('\n');
    for contest in results.contests() {
        for (who, figures) in results.of(contest) {
            write!(text, "{},{}", quoted(contest), quoted(who)).expect("a String");
            figures.into_iter().for_each(|figure| text += &cells(figure));
            text.push('\n');
        }
    }
    text
}

/// The three cells of a figure; a figure without a spread has one.
fn cells(figure: Option<Spread>) -> String {
    let Some(Spread { median, least, most }) = figure else { return ",,,".to_owned() };
    if least.to_bits() == most.to_bits() {
        return format!(",{},,", short(median));
    }
    format!(",{},{},{}", short(median), short(least), short(most))
}

/// Four digits say enough.
fn short(figure: f64) -> String {
    let digits = if figure.abs() < 1000.0 { 3 } else { 0 };
    let text = format!("{figure:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

fn quoted(cell: &str) -> String {
    if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() }
}

/// Reads such a file.
///
/// # Errors
/// A line has more or fewer cells than there are columns, or one that is no number.
pub(crate) fn parse(text: &str) -> Result<Data> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(split);
    let columns = lines.next().context("the names of the columns are not there")?;
    let measures = columns.iter().skip(2).step_by(3).cloned().collect();
    let mut rows = Vec::new();
    for cells in lines {
        ensure!(cells.len() == columns.len(), "{cells:?} has not {} cells", columns.len());
        let figures = cells[2..].chunks(3).map(figure).collect::<Result<_>>()?;
        rows.push(Row { contest: cells[0].clone(), who: cells[1].clone(), figures });
    }
    Ok(Data { measures, rows })
}

fn figure(cells: &[String]) -> Result<Option<Spread>> {
    if cells[0].is_empty() {
        return Ok(None);
    }
    let median = cells[0].parse().with_context(|| cells[0].clone())?;
    let or_median = |cell: &String| if cell.is_empty() { Ok(median) } else { cell.parse() };
    Ok(Some(Spread { median, least: or_median(&cells[1])?, most: or_median(&cells[2])? }))
}

/// Cuts a line at the commas that are not between quotation marks.
fn split(line: &str) -> Vec<String> {
    let mut is_quoted = false;
    let is_cut = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    line.split(is_cut).map(|cell| cell.trim_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Measure, few, fine, less};
    use super::*;

    static MEASURES: [Measure; 2] = [less("CPU, µs", fine), less("allocations", few)];

    #[test]
    fn data_is_read_as_it_was_written() {
        let mut results = Results::new(&MEASURES);
        for cpu in [1.5, 2.25, 1750.0] {
            results.add("one, two", "Alula", &[cpu]);
        }
        results.set("one, two", "Go", "allocations", 0.07);
        let text = text("n = 3", &results);
        assert_eq!(text.lines().nth(2), Some("\"one, two\",Alula,2.25,1.5,1750,,,"));
        let data = parse(&text).expect("its own text");
        assert_eq!(data.measures, ["CPU, µs", "allocations"]);
        assert_eq!(data.rows[0].figures, [Some(Spread { median: 2.25, least: 1.5, most: 1750.0 }), None]);
        assert_eq!(data.rows[1].figures[1].map(|figure| figure.most), Some(0.07));
        parse("contest,who,a,a: least,a: most\nx,y,1\n").unwrap_err();
    }
}
