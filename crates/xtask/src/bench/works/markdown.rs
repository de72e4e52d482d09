//! The section of `docs/performance.md` about the works of servers.

use std::fmt::Write;

use super::super::spread::Spread;
use super::super::table::{fine, spread};
use super::figures::{Figures, Rounds};
use super::matrix::{Cell, Who, Work};
use crate::costs::table::thousands;

/// Two tables for each work, and where a peer is ahead.
pub(super) fn markdown(cells: &[Cell], figures: &Figures) -> String {
    let mut text = String::new();
    for work in Work::ALL {
        let cells: Vec<Cell> = cells.iter().copied().filter(|cell| cell.work == work).collect();
        let cpu = |rounds: &Rounds| spread(Spread::of(rounds.cpu.iter().copied()), fine);
        let rate = |rounds: &Rounds| spread(Spread::of(rounds.per_second.iter().copied()), thousands);
        write!(text, "### {}: CPU of the server per request, µs\n\n", work.title()).expect("a String");
        text += &table(&cells, work, figures, cpu);
        write!(text, "\n### {}: requests per second\n\n", work.title()).expect("a String");
        text += &table(&cells, work, figures, rate);
        text.push('\n');
    }
    text + &lost(figures) + &behind(cells, figures)
}

/// A line for each server that has not answered all, or more than could be counted.
fn lost(figures: &Figures) -> String {
    let mut text = String::new();
    for (cell, who, rounds) in figures.lost() {
        let (who, work, how) = (who.label(), cell.work.title(), cell.label());
        let why = match cell.can_outrun_its_load() {
            true => "answered more than the million a second that wrk can count on a connection",
            false => "left requests unanswered",
        };
        writeln!(text, "- {who} {why} in {rounds} of the rounds of {work}: {how}.").expect("a String");
    }
    if text.is_empty() { text } else { text + "\n" }
}

fn table(cells: &[Cell], work: Work, figures: &Figures, print: impl Fn(&Rounds) -> String) -> String {
    let measured = |who: &Who| cells.iter().any(|cell| figures.get(*cell, *who).is_some());
    let who: Vec<Who> = Who::ALL.into_iter().filter(|who| who.has(work) && measured(who)).collect();
    let labels: Vec<&str> = who.iter().map(|who| who.label()).collect();
    let mut text = format!("| how | {} |\n| --- |{}\n", labels.join(" | "), " ---: |".repeat(who.len()));
    for cell in cells {
        let figures = who.iter().map(|who| figures.get(*cell, *who).map_or("–".to_owned(), &print));
        let figures: Vec<String> = figures.collect();
        writeln!(text, "| {} | {} |", cell.label(), figures.join(" | ")).expect("a String");
    }
    text
}

/// A line for each cell in which one is, and the count of those in which none is.
fn behind(cells: &[Cell], figures: &Figures) -> String {
    let behind = figures.behind();
    let own = |cell: &&Cell| Who::ALL.iter().any(|who| who.is_ours() && figures.get(**cell, *who).is_some());
    let all = cells.iter().filter(own).count();
    let one = |cell: &Cell| behind.iter().any(|row| row.cell == *cell && row.own == Who::Alula);
    let without = all - cells.iter().filter(|cell| one(cell)).count();
    let mut text = "### Where a server is ahead\n\n".to_owned();
    write!(text, "Of {all} ways in which Alula was asked, no server took less CPU per request in {without}.")
        .expect("a String");
    text.push_str(" In the others, and for `alula serve`, by the medians:\n\n");
    if behind.is_empty() {
        return text.replace(" In the others, and for `alula serve`, by the medians:", "");
    }
    text.push_str("| work | how | who | ahead is | by |\n| --- | --- | --- | --- | ---: |\n");
    for row in &behind {
        let (work, how, times) = (row.cell.work.title(), row.cell.label(), spread(Some(row.times), fine));
        writeln!(text, "| {work} | {how} | {} | {} | {times} × |", row.own.label(), row.peer.label())
            .expect("a String");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::matrix::cells;
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_server_that_has_the_work() {
        let (cells, mut figures) = (cells(true), Figures::default());
        for cell in &cells {
            for who in Who::ALL.into_iter().filter(|who| who.has(cell.work)) {
                figures.add(*cell, who, if who == Who::Go { 1.0 } else { 2.0 }, 1000.0);
            }
        }
        let text = markdown(&cells, &figures);
        let json = text.split("### ").find(|part| part.starts_with(Work::Json.title())).expect("a table");
        assert!(json.contains("| how | Alula | hyper | axum | Go |"), "{json}");
        assert!(
            json.contains("| 2.00 (2.00–2.00) | 2.00 (2.00–2.00) | 2.00 (2.00–2.00) | 1.00 (1.00–1.00) |")
        );
        assert!(text.contains("| Alula | Go | 2.00 (2.00–2.00) × |"), "{text}");
        assert!(text.contains("per request in 0."), "{text}");
    }
}
