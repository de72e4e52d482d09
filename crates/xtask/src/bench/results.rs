//! What was measured, by contest and label.

use std::collections::BTreeMap;

use super::contest::{By, Contest, Entry};

/// Everything of a run.
#[derive(Debug, Default)]
pub(super) struct Results(BTreeMap<(&'static str, &'static str), Figures>);

/// One entry's, each per unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Nanoseconds from one unit to the next, by round.
    pub(super) wall: Vec<f64>,
    /// Nanoseconds of the process's user and system time, by round.
    pub(super) cpu: Vec<f64>,
    pub(super) instructions: Option<f64>,
    pub(super) allocations: Option<f64>,
}

impl Results {
    pub(super) fn get(&self, contest: &Contest, entry: &Entry) -> Figures {
        self.0.get(&(contest.name, entry.label)).cloned().unwrap_or_default()
    }

    pub(super) fn of(&mut self, contest: &Contest, entry: &Entry) -> &mut Figures {
        self.0.entry((contest.name, entry.label)).or_default()
    }

    /// CPU time of Alula's first entry, by round.
    pub(super) fn own(&self, contest: &Contest) -> Vec<f64> {
        let own = contest.entries.iter().find(|entry| entry.by == By::Alula);
        own.map(|entry| self.get(contest, entry).cpu).unwrap_or_default()
    }

    /// CPU time of the blocking floor and of the one on tokio, by round.
    pub(super) fn floor(&self, contest: &Contest, work: &str) -> Vec<f64> {
        let floor = contest.entries.iter().find(|entry| entry.is_floor() && entry.work == work);
        floor.map(|entry| self.get(contest, entry).cpu).unwrap_or_default()
    }
}
