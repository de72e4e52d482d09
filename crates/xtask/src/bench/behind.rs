//! Where a peer is ahead of Alula: the cells of clients' and servers' tables, and where Alula's instructions go there.

use std::fmt::Write;

use anyhow::Result;

use super::build::Programs;
use super::contest::{By, Contest, Entry, Kind};
use super::goals::{Goal, first_functions};
use super::results::{Figures, Results};
use super::spread::Spread;
use super::table::{few, fine, spread};
use crate::costs::table::thousands;

/// All such cells, and a profile of each workload they are of.
#[derive(Debug, Default)]
pub(super) struct Behind {
    cells: Vec<Cell>,
    profiles: String,
}

/// One cell of one row of Alula's, and one peer who has a better figure in it.
#[derive(Debug, PartialEq)]
struct Cell {
    contest: &'static str,
    own: &'static str,
    peer: &'static str,
    column: &'static str,
    /// By what Alula's figure is worse.
    by: String,
    /// Alula's, where its instructions were counted.
    workload: Option<&'static str>,
}

/// So much less is no difference: what a start has left.
const ALLOCATIONS_MIN: f64 = 0.005;

/// Compares what this run has figures for. Work in memory is left out: there like is not beside like in each row.
pub(super) fn of(
    programs: &Programs,
    contests: &[Contest],
    results: &Results,
    goals: &[Goal],
) -> Result<Behind> {
    let cells: Vec<Cell> = contests.iter().flat_map(|contest| cells(contest, results)).collect();
    let mut workloads: Vec<&str> = cells.iter().filter_map(|cell| cell.workload).collect();
    // Of a goal that is not met there is a profile already.
    workloads.retain(|workload| !goals.iter().any(|goal| goal.has_profile_of(workload)));
    workloads.dedup();
    let mut profiles = String::new();
    for workload in workloads {
        let functions = first_functions(programs, workload)?;
        write!(profiles, "`{workload}`:\n\n```text\n{functions}```\n\n")?;
    }
    Ok(Behind { cells, profiles })
}

impl Behind {
    /// A line for each cell.
    pub(super) fn markdown(&self) -> String {
        if self.cells.is_empty() {
            return "In no cell of a client's or a server's table.\n\n".to_owned();
        }
        let mut text =
            "| contest | who | column | ahead is | by |\n| --- | --- | --- | --- | ---: |\n".to_owned();
        for Cell { contest, own, peer, column, by, .. } in &self.cells {
            writeln!(text, "| `{contest}` | {own} | {column} | {peer} | {by} |")
                .expect("a String takes any text");
        }
        text + "\n"
    }

    pub(super) fn profiles(&self) -> &str {
        &self.profiles
    }
}

fn cells(contest: &Contest, results: &Results) -> Vec<Cell> {
    let mut cells = Vec::new();
    if matches!(contest.kind, Kind::Memory { .. }) {
        return cells;
    }
    let is_peer = |entry: &&Entry| entry.by != By::Alula && !entry.is_floor();
    for own in contest.entries.iter().filter(|entry| entry.by == By::Alula) {
        for peer in contest.entries.iter().filter(is_peer) {
            let figures = [own, peer].map(|entry| results.get(contest, entry));
            for (column, by) in worse(contest.kind, &figures) {
                let workload = figures[0].instructions.map(|_| own.workload(contest));
                let (contest, own, peer) = (contest.name, own.label, peer.label);
                cells.push(Cell { contest, own, peer, column, by, workload });
            }
        }
    }
    cells
}

/// The columns in which the first figures are worse than the second, and by what: a multiple, or a number.
fn worse(kind: Kind, [own, peer]: &[Figures; 2]) -> Vec<(&'static str, String)> {
    let multiple = |own: &[f64], peer: &[f64]| {
        Spread::of_ratios(own, peer)
            .filter(|times| times.median > 1.0)
            .map(|times| spread(Some(times), fine) + " ×")
    };
    let more = |own: Option<f64>, peer: Option<f64>, least: f64| {
        own.zip(peer).map(|(own, peer)| own - peer).filter(|more| *more > least)
    };
    let instructions = more(own.instructions, peer.instructions, 0.0).filter(|_| kind.instructions_tell());
    let allocations = more(own.allocations, peer.allocations, ALLOCATIONS_MIN);
    let columns = [
        ("per second", multiple(&own.wall, &peer.wall)),
        ("CPU", multiple(&own.cpu, &peer.cpu)),
        ("instructions", instructions.map(thousands)),
        ("allocations", allocations.map(few)),
    ];
    columns.into_iter().filter_map(|(column, by)| Some((column, by?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::contest::chosen;
    use super::super::options::Options;
    use super::*;

    fn figures(time: f64, instructions: f64, allocations: f64) -> Figures {
        let times = vec![time, 2.0 * time, time];
        Figures {
            wall: times.clone(),
            cpu: times,
            instructions: Some(instructions),
            allocations: Some(allocations),
        }
    }

    fn contest(name: &str) -> Contest {
        let options = Options::parse(&["--only", "hyper"]).expect("valid options");
        let contests = chosen(&options).expect("a peer");
        contests.into_iter().find(|contest| contest.name == name).expect("a contest")
    }

    #[test]
    fn a_cell_is_where_a_peer_has_the_better_figure() {
        let (contest, mut results) = (contest("server-h1-m32"), Results::default());
        let [own, peer] = ["Alula", "hyper"].map(|label| contest.entry(label).expect("it takes part"));
        *results.of(&contest, own) = figures(3.0, 5900.0, 0.0);
        *results.of(&contest, peer) = figures(2.0, 5400.0, 3.06);
        let cells = cells(&contest, &results);
        let told: Vec<(&str, &str)> = cells.iter().map(|cell| (cell.column, &*cell.by)).collect();
        let times = "1.50 (1.50–1.50) ×";
        assert_eq!(told, [("per second", times), ("CPU", times), ("instructions", "500")]);
        assert_eq!(
            (cells[0].own, cells[0].peer, cells[0].workload),
            ("Alula", "hyper", Some("server-h1-m32"))
        );
        *results.of(&contest, own) = figures(2.0, 5400.0, 0.0);
        assert_eq!(super::cells(&contest, &results), []);
    }

    #[test]
    fn copies_of_much_content_are_not_held_against_anybody() {
        let both = [figures(1.0, 110_000.0, 0.0), figures(1.0, 19_000.0, 0.0)];
        assert_eq!(worse(contest("client-h1-100k").kind, &both), []);
        assert_eq!(worse(contest("client-h1-1k").kind, &both), [("instructions", "91,000".to_owned())]);
    }
}
