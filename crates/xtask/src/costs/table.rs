//! The table of `docs/performance.md`, between two marks.

use std::fmt::Write;
use std::path::PathBuf;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::figures::{Figures, Row, short};
use super::measure::{Use, Workload};
use super::peers::{Compared, Goal, Peer, Peers};

const BEGIN: &str = "<!-- costs: written by `cargo xtask costs --write` -->\n";
const END: &str = "<!-- end of costs -->\n";

/// The document that holds the table.
pub(crate) fn document() -> PathBuf {
    repository_root().join("docs/performance.md")
}

/// The document with the table of these figures in place of the one it has.
pub(crate) fn replaced(
    text: &str,
    workloads: &[Workload],
    figures: &Figures,
    peers: &Peers,
) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).context("the mark before the table is not there")?;
    let (_, after) = rest.split_once(END).context("the mark behind the table is not there")?;
    let tools = &figures.tools;
    let table = markdown(workloads, figures, peers);
    Ok(format!("{before}{BEGIN}\nWith {} and {}.\n\n{table}\n{END}{after}", tools.compiler, tools.libc))
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
            format!("– ({} octets resident)", thousands(row.octets))
        }
        0.0 => "0".into(),
        allocations => format!("{} ({} octets)", short(allocations), thousands(row.octets)),
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
        let times = resident / row.octets;
        write!(text, " {} octets ({times:.1} ×)", thousands(resident)).expect("as above");
    }
    text
}

fn wanted(goal: Goal) -> String {
    match goal {
        Goal::Work { instructions, allocations } => {
            format!("{}, {} allocations", thousands(instructions), short(allocations))
        }
        Goal::Resident(octets) => format!("{} octets resident", thousands(octets)),
    }
}

fn verdict(compared: &Compared, row: &Row) -> String {
    match (compared.goal, row.instructions) {
        (Some(Goal::Work { instructions, allocations }), Some(own)) if own <= instructions => {
            if row.allocations <= allocations { "yes".into() } else { "no: allocations".into() }
        }
        (Some(Goal::Work { instructions, .. }), Some(own)) => above(own - instructions),
        (Some(Goal::Resident(octets)), _) if row.octets <= octets => "yes".into(),
        (Some(Goal::Resident(octets)), _) => above(row.octets - octets),
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
        let holds = |octets: f64| Row { octets, instructions: None, ..row("a", 0.0, 0.0) };
        let resident = compared(Some(Goal::Resident(16_384.0)));
        assert_eq!(
            [16_000.0, 17_000.0].map(|octets| verdict(&resident, &holds(octets))),
            ["yes", "no: 616 above"]
        );
    }

    #[test]
    fn a_table_is_replaced_by_itself() {
        let (instructions, allocations) = (Use::Held, Use::Held);
        let workload = Workload {
            name: "encode-e".into(),
            units: 1,
            instructions,
            allocations,
            within: String::new(),
            load: "names known".into(),
            what: "one".into(),
        };
        let figures = Figures { rows: vec![row("encode-e", 500.0, 0.0)], ..Figures::default() };
        let peers = Peers::load().unwrap();
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let once = replaced(&text, std::slice::from_ref(&workload), &figures, &peers).unwrap();
        assert!(once.contains("| names known | h2, less its map 6,334 (12.7 ×), 0 allocations |"), "{once}");
        assert_eq!(replaced(&once, &[workload], &figures, &peers).unwrap(), once);
    }
}
