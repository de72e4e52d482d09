//! The table of all workloads, and the twelve rows of it in `docs/performance.md`, between two marks.

use std::fmt::Write;
use std::path::PathBuf;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::figures::{Figures, Row, Tools, short};
use super::measure::{Use, Workload};
use super::peers::{Compared, Goal, Peer, Peers};

const BEGIN: &str = "<!-- costs: written by `cargo xtask costs --write` -->\n";
const END: &str = "<!-- end of costs -->\n";

/// The document that holds the table.
pub(crate) fn document() -> PathBuf {
    repository_root().join("docs/performance.md")
}

/// The rows of the document, as a reader would ask for them.
const ROWS: [(&str, &str); 12] = [
    ("client-0", "Client, HTTP/2: GET with 10 fields, 200 with 10"),
    ("client-0-prepared", "the same, prepared"),
    ("client-h1-0", "Client, HTTP/1.1: the same"),
    ("server-m1", "Server, HTTP/2: one request in flight"),
    ("server-m32-proxied", "Server, HTTP/2: 32 in flight, a proxy's traffic of 50 browsers"),
    ("server-h1-m1", "Server, HTTP/1.1: one request in flight"),
    ("server-h1-m32-proxied", "Server, HTTP/1.1: 32 sent at once, a proxy's traffic"),
    ("server-connection-h2", "Server: a connection of HTTP/2, one request, close"),
    ("encode-b-names", "HPACK: encode 12 fields, path and request id new each time"),
    ("decode-b-section", "HPACK: decode them"),
    ("routes-40", "Find one of 40 routes and its captures"),
    ("store-put", "Object store: PUT of 516 bytes with 16 index entries"),
];

/// The document with the rows of these figures in place of those that it has.
pub(crate) fn replaced(text: &str, figures: &Figures, peers: &Peers) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).context("the mark before the table is not there")?;
    let (_, after) = rest.split_once(END).context("the mark behind the table is not there")?;
    let mut table =
        String::from("| one unit | instructions | allocations | best peer |\n| --- | ---: | ---: | --- |\n");
    for (name, title) in ROWS {
        let Some(row) = figures.get(name) else { continue };
        let best = peers.get(name).and_then(|compared| compared.best.as_ref());
        writeln!(
            table,
            "| {title} | {} | {} | {} |",
            row.instructions.map_or("–".into(), thousands),
            short(row.allocations),
            best.map_or("–".into(), |peer| against(peer, row))
        )
        .expect("a String takes any text");
    }
    let Tools { compiler, libc } = &figures.tools;
    Ok(format!("{before}{BEGIN}\nWith {compiler} and {libc}.\n\n{table}\n{END}{after}"))
}

/// One row per workload that has figures.
pub(crate) fn markdown(workloads: &[Workload], figures: &Figures, peers: &Peers) -> String {
    let mut text = String::from(
        "| workload | one unit | instructions | allocations | both at | best peer | hyper, h2 | goal | goal met |\n\
         | --- | --- | ---: | ---: | --- | --- | --- | ---: | --- |\n",
    );
    for workload in workloads {
        let Some(row) = figures.get(&workload.name) else { continue };
        let compared = peers.get(&workload.name);
        let best = compared.and_then(|compared| compared.best.as_ref());
        let hyper = compared.and_then(|compared| compared.hyper.as_ref());
        let goal = compared.and_then(|compared| compared.goal);
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            workload.name,
            workload.what,
            row.instructions.map_or("–".into(), |own| about(workload.instructions) + &thousands(own)),
            about(workload.allocations) + &allocations(workload, row),
            compared.and_then(|compared| compared.load.as_deref()).unwrap_or("–"),
            best.map_or("–".into(), |peer| against(peer, row)),
            hyper.map_or("–".into(), |peer| against(peer, row)),
            goal.map_or("–".into(), wanted),
            compared.map_or("–".into(), |compared| verdict(compared, row)),
        )
        .expect("a String takes any text");
    }
    text
}

/// What stands before a figure that varies by itself.
fn about(figure: Use) -> String {
    if figure == Use::Told { "≈ ".into() } else { String::new() }
}

fn allocations(workload: &Workload, row: &Row) -> String {
    match row.allocations {
        _ if workload.allocations == Use::Resident => {
            format!("– ({} bytes resident)", thousands(row.bytes))
        }
        0.0 => "0".into(),
        allocations => format!("{} ({} bytes)", short(allocations), thousands(row.bytes)),
    }
}

/// A peer's figures, and how many times ours they are.
fn against(peer: &Peer, row: &Row) -> String {
    let mut text = peer.name.clone();
    if let Some(instructions) = peer.instructions {
        write!(text, " {}", thousands(instructions)).expect("a String takes any text");
        if let Some(own) = row.instructions {
            write!(text, " ({:.1} ×)", instructions / own).expect("as above");
        }
    }
    if let Some(allocations) = peer.allocations {
        write!(text, ", {} allocations", short(allocations)).expect("as above");
    }
    if let Some(resident) = peer.resident {
        let times = resident / row.bytes;
        write!(text, " {} bytes ({times:.1} ×)", thousands(resident)).expect("as above");
    }
    text
}

fn wanted(goal: Goal) -> String {
    match goal {
        Goal::Work { instructions, allocations } => {
            format!("{}, {} allocations", thousands(instructions), short(allocations))
        }
        Goal::Resident(bytes) => format!("{} bytes resident", thousands(bytes)),
    }
}

fn verdict(compared: &Compared, row: &Row) -> String {
    match (compared.goal, row.instructions) {
        (Some(Goal::Work { instructions, allocations }), Some(own)) if own <= instructions => {
            if row.allocations <= allocations { "yes".into() } else { "no: allocations".into() }
        }
        (Some(Goal::Work { instructions, .. }), Some(own)) => above(own - instructions),
        (Some(Goal::Resident(bytes)), _) if row.bytes <= bytes => "yes".into(),
        (Some(Goal::Resident(bytes)), _) => above(row.bytes - bytes),
        _ => "–".into(),
    }
}

fn above(by: f64) -> String {
    format!("no: {} above", thousands(by))
}

/// Rounded, in groups of three digits.
pub(crate) fn thousands(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::figures::row;
    use super::*;

    #[test]
    fn figures_are_rounded_and_grouped() {
        let figures = [0.4, 999.6, 12_345.0, 1_234_567.0].map(thousands);
        assert_eq!(figures, ["0", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn a_goal_is_met_by_instructions_and_allocations() {
        let compared = |goal| Compared { goal, ..Peers::load().unwrap().get("encode-e").unwrap().clone() };
        let work = |allocations| compared(Some(Goal::Work { instructions: 600.0, allocations }));
        assert_eq!(verdict(&work(0.0), &row("a", 600.0, 0.0)), "yes");
        assert_eq!(verdict(&work(0.0), &row("a", 600.0, 1.0)), "no: allocations");
        assert_eq!(verdict(&work(1.0), &row("a", 600.0, 1.0)), "yes");
        assert_eq!(verdict(&work(0.0), &row("a", 1778.4, 0.0)), "no: 1,178 above");
        assert_eq!(verdict(&compared(None), &row("a", 1778.4, 0.0)), "–");
        let holds = |bytes: f64| Row { bytes, instructions: None, ..row("a", 0.0, 0.0) };
        let resident = compared(Some(Goal::Resident(16_384.0)));
        assert_eq!(
            [16_000.0, 17_000.0].map(|bytes| verdict(&resident, &holds(bytes))),
            ["yes", "no: 616 above"]
        );
    }

    #[test]
    fn rows_are_replaced_by_themselves() {
        let figures = Figures { rows: vec![row("encode-b-names", 2500.0, 0.0)], ..Figures::default() };
        let peers = Peers::load().unwrap();
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let once = replaced(&text, &figures, &peers).unwrap();
        assert!(once.contains("| 2,500 | 0 | nghttp2 9,462 (3.8 ×), 3.29 allocations |"), "{once}");
        assert_eq!(replaced(&once, &figures, &peers).unwrap(), once);
    }

    #[test]
    fn the_document_has_the_marks() {
        let text = std::fs::read_to_string(document()).expect("it is there");
        replaced(&text, &Figures::default(), &Peers::load().unwrap()).expect("both marks");
    }
}
