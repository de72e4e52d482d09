//! The part of `docs/interop.md` that is written from this table.

use std::fmt::Write as _;

use super::cells::{CHECKS, Cell, Row};
use super::rows::ROWS;
use super::server::Way;
use crate::interop::page_row::file;

const BEGINNING: &str = "
## `alula get` beside curl

Both programs are given the same words, and what they write is compared byte by byte with what was to come. `yes` was checked
in all ways of the second column; `-` is not offered by the server.

";

/// The section.
#[must_use]
pub fn text() -> String {
    let mut page = BEGINNING.to_owned();
    for (name, holds) in CHECKS {
        line(&mut page, format_args!("- **{name}**: {holds}."));
    }
    let names: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
    line(&mut page, format_args!("\n| server | ways | {} |", names.join(" | ")));
    line(&mut page, format_args!("| --- | --- |{}", " --- |".repeat(names.len())));
    ROWS.iter().for_each(|shown| line(&mut page, format_args!("{}", row(shown))));
    ROWS.iter().for_each(|shown| remarks(&mut page, shown));
    page
}

/// Holds a row against the page as it lies there.
///
/// # Panics
/// When the page has no such line.
pub(super) fn assert_shows(shown: &Row) {
    let page = std::fs::read_to_string(file()).expect("docs/interop.md can be read");
    let row = row(shown);
    assert!(
        page.lines().any(|line| line == row),
        "docs/interop.md does not have this line; `cargo xtask interop --write` writes it:\n{row}"
    );
}

fn row(shown: &Row) -> String {
    let cells: Vec<&str> = shown.cells.iter().map(|(_, cell)| word(cell)).collect();
    format!("| {} | {} | {} |", shown.server, ways(shown.ways), cells.join(" | "))
}

fn word(cell: &Cell) -> &'static str {
    match cell {
        Cell::Checked(..) => "yes",
        Cell::NotOffered(_) => "-",
    }
}

fn ways(ways: &[Way]) -> &'static str {
    match ways {
        [Way::Http1, Way::Http1Tls] => "1.1, clear and TLS",
        [Way::Http2, Way::Http2Tls] => "2, clear and TLS",
        _ => "1.1 and 2, clear and TLS",
    }
}

fn remarks(page: &mut String, shown: &Row) {
    let remarks: Vec<String> = shown.cells.iter().filter_map(|(check, cell)| remark(check, cell)).collect();
    if !remarks.is_empty() {
        line(page, format_args!("\n**{}**\n", shown.server));
    }
    remarks.iter().for_each(|remark| line(page, format_args!("- {remark}.")));
}

fn remark(check: &str, cell: &Cell) -> Option<String> {
    match cell {
        Cell::Checked(_, "") => None,
        Cell::Checked(_, how) => Some(format!("{check}: {how}")),
        Cell::NotOffered(why) => Some(format!("{check}: not offered: {why}")),
    }
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a String takes any text");
}
