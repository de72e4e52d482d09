//! What a workload is, and the list of all.

use crate::{created, decode, encode, fields, part_g};

/// Something that is done N times, to learn what once costs.
pub(crate) struct Workload {
    /// How it is called on the command line and in the files of figures.
    pub(crate) name: &'static str,
    /// What one unit is, for the table.
    pub(crate) what: &'static str,
    /// How many units give a figure that repeats.
    pub(crate) units: u64,
    /// Whether its instructions are of interest.
    pub(crate) has_instructions: bool,
    /// Sets it up.
    pub(crate) prepare: fn() -> Run,
}

/// A workload that is set up: does so many units.
pub(crate) type Run = Box<dyn FnMut(u64)>;

impl Workload {
    pub(crate) const fn new(
        name: &'static str,
        units: u64,
        what: &'static str,
        prepare: fn() -> Run,
    ) -> Self {
        Self { name, what, units, has_instructions: true, prepare }
    }

    /// The same, only for counting allocations.
    pub(crate) const fn without_instructions(self) -> Self {
        Self { has_instructions: false, ..self }
    }
}

/// Every workload, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Workload> {
    let groups: [&[Workload]; 5] =
        [encode::WORKLOADS, decode::WORKLOADS, part_g::WORKLOADS, created::WORKLOADS, fields::WORKLOADS];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_workload_runs() {
        let mut names = Vec::new();
        for workload in all() {
            assert!(!names.contains(&workload.name), "{} is there twice", workload.name);
            names.push(workload.name);
        }
    }
}
