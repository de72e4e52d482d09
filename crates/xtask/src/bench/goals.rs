//! Alula's goals in instructions and allocations: met, or how far away, and where the instructions of the workload go.
//!
//! A multiple of the floor in CPU time measures the machine as much as the stack, so it is told and never a goal.

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{By, Contest, Entry};
use super::options::Options;
use super::results::Results;
use crate::costs::peers::{self as costs, Peers};
use crate::costs::profile;
use crate::costs::table::thousands;

/// How many functions of a profile say enough.
const PROFILE_LINES: usize = 5;

/// One goal of one entry.
#[derive(Debug)]
pub(super) struct Goal {
    contest: &'static str,
    label: &'static str,
    workload: &'static str,
    verdict: String,
    is_met: bool,
    /// Of a goal in instructions that is not met.
    profile: String,
}

impl Goal {
    /// Returns true if it tells where the instructions of that workload go.
    pub(super) fn has_profile_of(&self, workload: &str) -> bool {
        self.workload == workload && !self.profile.is_empty()
    }
}

/// All that this run has figures for.
pub(super) fn of(
    programs: &Programs,
    contests: &[Contest],
    results: &Results,
    options: &Options,
) -> Result<Vec<Goal>> {
    let (peers, mut goals) = (Peers::load()?, Vec::new());
    for contest in contests {
        for entry in contest.entries.iter().filter(|entry| entry.by == By::Alula) {
            if options.counts_instructions {
                goals.extend(in_instructions(programs, contest, entry, results, &peers)?);
            }
        }
    }
    Ok(goals)
}

/// A workload's goal stands beside the peers' figures that were recorded.
fn in_instructions(
    programs: &Programs,
    contest: &Contest,
    entry: &Entry,
    results: &Results,
    peers: &Peers,
) -> Result<Option<Goal>> {
    let workload = entry.workload(contest);
    let goal = peers.get(workload).and_then(|compared| compared.goal);
    let Some(costs::Goal::Work { instructions: most, allocations: allowed }) = goal else { return Ok(None) };
    let figures = results.get(contest, entry);
    let own = figures.instructions.with_context(|| format!("{workload} has no figure"))?;
    let is_met = own <= most && figures.allocations.is_some_and(|allocations| allocations < allowed + 0.005);
    let verdict = match own <= most {
        true if is_met => format!("≤ {} instructions: met", thousands(most)),
        true => format!("≤ {} instructions: met, but it allocates", thousands(most)),
        false => format!("≤ {} instructions: {} above", thousands(most), thousands(own - most)),
    };
    let profile = if is_met { String::new() } else { first_functions(programs, workload)? };
    Ok(Some(Goal { contest: contest.name, label: entry.label, workload, verdict, is_met, profile }))
}

/// The functions that most instructions of a workload are in, a line each.
pub(super) fn first_functions(programs: &Programs, workload: &str) -> Result<String> {
    let profile = profile::of(&programs.bench, workload)?;
    let functions = profile.lines().filter(|line| is_function(line)).take(PROFILE_LINES);
    Ok(functions.map(|line| line.to_owned() + "\n").collect())
}

/// Returns true if it is about a function, not a file it is in or a caller, which are indented.
fn is_function(line: &str) -> bool {
    line.get(..10).is_some_and(|figure| !figure.trim().is_empty())
}

/// What stands in the entry's row.
pub(super) fn in_row(goals: &[Goal], contest: &Contest, entry: &Entry) -> String {
    let own = goals.iter().filter(|goal| goal.contest == contest.name && goal.label == entry.label);
    own.map(|goal| &*goal.verdict).collect::<Vec<_>>().join("; ")
}

/// The profiles of what is above its goal.
pub(super) fn profiles(goals: &[Goal]) -> String {
    let unmet = goals.iter().filter(|goal| !goal.is_met && !goal.profile.is_empty());
    unmet
        .map(|goal| format!("`{}`, {}:\n\n```text\n{}```\n\n", goal.workload, goal.verdict, goal.profile))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_files() {
        assert!(is_function("     664.0  all") && is_function("  104529.0  h2::encode"));
        assert!(!is_function("             133.0  in encoder.rs") && !is_function(""));
    }
}
