//! `docs/interop.md`, written from the matrix.

use std::fmt::Write as _;

use super::matrix::{CHECKS, Cell, Row};
use super::page_row::row;
use super::way::Way;
use super::{clients, servers};

const BEGINNING: &str = "\
# Interop

What Alula was seen doing with programs that other people wrote. This page is written from the table that the tests
run (`cargo xtask interop --write`), and the tests fail when it says anything else than what they have just checked.

In the first two tables, which are of HTTP/2, `yes` was checked in clear text with prior knowledge and over TLS with ALPN, `TLS` over TLS alone; `-` is not offered by the
peer. The reasons are given below the table. The versions of the peers are those of Debian's packages and of the pinned modules
([0004](decisions/0004-peers-are-pinned.md)).

## What is checked

";

/// The whole page.
#[must_use]
pub fn text() -> String {
    let mut page = BEGINNING.to_owned();
    for check in CHECKS {
        line(&mut page, format_args!("- **{}**: {}.", check.name, check.holds));
    }
    page.push_str("\n## Alula's client with other servers\n\n");
    section(&mut page, "server", servers::ROWS);
    page.push_str("\n## Alula's server with other clients\n\n");
    section(&mut page, "client", clients::ROWS);
    page.push_str(&crate::beside_curl::page::text());
    page
}

fn section<T>(page: &mut String, side: &str, rows: &[&Row<T>]) {
    let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    line(page, format_args!("| {side} | {} |", names.join(" | ")));
    line(page, format_args!("| --- |{}", " --- |".repeat(names.len())));
    for Row { peer, cells } in rows {
        let checked: Vec<Vec<Way>> = cells.iter().map(|(_, cell)| cell.ways().to_vec()).collect();
        line(page, format_args!("{}", row(peer, &checked)));
    }
    for Row { peer, cells } in rows {
        let mut remarks = cells.iter().filter_map(|(check, cell)| remark(check.name, cell)).peekable();
        if remarks.peek().is_some() {
            line(page, format_args!("\n**{peer}**\n"));
        }
        remarks.for_each(|remark| line(page, format_args!("- {remark}.")));
    }
}

fn remark<T>(check: &str, cell: &Cell<T>) -> Option<String> {
    match cell {
        Cell::Checked(_, "") => None,
        Cell::Checked(_, how) | Cell::OverTls(_, how) => Some(format!("{check}: {how}")),
        Cell::NotOffered(why) => Some(format!("{check}: not offered: {why}")),
    }
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a String takes any text");
}
