//! The printed form of a run: a table for each contest, the rounds that were lost, and where a peer is ahead.

use std::fmt::Write;

use super::measure::{Better, fine};
use super::results::Results;
use super::spread::Spread;

/// Prints everything below a heading.
pub(crate) fn markdown(heading: &str, results: &Results) -> String {
    let mut text = format!("{heading}\n\n");
    for contest in results.contests() {
        write!(text, "### {contest}\n\n{}\n", table(results, contest)).expect("a String");
    }
    for (contest, who, lost, rounds) in results.lost() {
        writeln!(text, "- {who} has no figure in {lost} of {rounds} rounds of {contest}.").expect("a String");
    }
    text + &ahead(results)
}

/// A row for each who takes part; where less CPU is better, its multiple of Alula's stands beside.
fn table(results: &Results, contest: &str) -> String {
    let names = results.measures().iter().map(|measure| measure.name);
    let cpu = results.measures().iter().position(|measure| {
        measure.better == Better::Less && (measure.name.starts_with("CPU") || measure.name == "ns")
    });
    let columns: Vec<&str> = names.chain(cpu.map(|_| "× Alula")).collect();
    let mut text = format!("| who | {} |\n| --- |{}\n", columns.join(" | "), " ---: |".repeat(columns.len()));
    for (who, spreads) in results.of(contest) {
        let figures = results.measures().iter().zip(spreads);
        let mut cells: Vec<String> = figures.map(|(measure, figure)| spread(figure, measure.print)).collect();
        cells.extend(cpu.map(|place| spread(results.beside_own(contest, who, place), fine)));
        writeln!(text, "| {who} | {} |", cells.join(" | ")).expect("a String");
    }
    text
}

fn ahead(results: &Results) -> String {
    let rows = results.ahead();
    if rows.is_empty() {
        return "No peer is ahead.\n".to_owned();
    }
    let mut text =
        "### Where a peer is ahead\n\n| contest | who | in | ahead is | by |\n| --- | --- | --- | --- | ---: |\n"
            .to_owned();
    for row in rows {
        let times = row.times.map_or("it has none".to_owned(), |times| spread(Some(times), fine) + " ×");
        writeln!(text, "| {} | {} | {} | {} | {times} |", row.contest, row.own, row.measure, row.peer)
            .expect("a String");
    }
    text
}

/// Prints `median (least–most)`, or the one figure that there is.
fn spread(spread: Option<Spread>, print: impl Fn(f64) -> String) -> String {
    match spread {
        None => "–".into(),
        Some(Spread { median, least, most }) if least.to_bits() == most.to_bits() => print(median),
        Some(Spread { median, least, most }) => {
            format!("{} ({}–{})", print(median), print(least), print(most))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Measure, less, told, whole};
    use super::*;

    static MEASURES: [Measure; 2] = [told("per second", whole), less("CPU, µs", fine)];

    #[test]
    fn a_spread_is_in_brackets() {
        let own = Spread { median: 1234.4, least: 9.96, most: 20_000.0 };
        assert_eq!(spread(Some(own), whole), "1,234 (10.0–20,000)");
        assert_eq!(spread(None, whole), "–");
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let mut results = Results::new(&MEASURES);
        for (who, cpu) in [("floor, blocking", 5.0), ("Alula", 10.0), ("ureq", 15.0)] {
            results.add("one", who, &[f64::NAN, cpu]);
        }
        let table = table(&results, "one");
        let columns: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [5; 5], "{table}");
        assert_eq!(table.lines().last(), Some("| ureq | – | 15.00 | 1.50 |"));
        assert_eq!(ahead(&results), "No peer is ahead.\n");
    }
}
