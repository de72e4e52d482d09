//! Figures of the store that do not depend on time: instructions, allocations and system calls of a request.

use anyhow::{Context, Result};

use super::calls::{Calls, NAMES};
use super::parts::{PARTS, part};
use super::{Playing, Programs, Way, alone, heading, ways};
use crate::bench::report::measure::{Measure, few, fine, told};
use crate::bench::suite::{Contest, Entry, Suite};
use crate::costs::figures::Figures;
use crate::costs::measure::Bench;
use crate::costs::profile::grouped;
use crate::costs::table::thousands;

/// A workload of `crates/bench`, or a way of asking whose system calls are counted.
#[derive(Clone, Copy)]
pub(in crate::bench) enum Counted {
    Workload(&'static str),
    Calls(Way),
}

const WORKLOADS: [(&str, &str); 5] = [
    ("store-get", "GET, memory"),
    ("store-put", "PUT, memory"),
    ("store-put-alone", "PUT, no engine"),
    ("store-get-fjall", "GET, fjall"),
    ("store-put-fjall", "PUT, fjall"),
];

static MEASURES: [Measure; 17] = [
    told("instructions", thousands),
    told(PARTS[0], thousands),
    told(PARTS[1], thousands),
    told(PARTS[2], thousands),
    told(PARTS[3], thousands),
    told(PARTS[4], thousands),
    told(PARTS[5], thousands),
    told("calls of functions", thousands),
    told("allocations", few),
    told("bytes allocated", thousands),
    told("system calls", fine),
    told(NAMES[0], fine),
    told(NAMES[1], fine),
    told(NAMES[2], fine),
    told(NAMES[3], fine),
    told(NAMES[4], fine),
    told(NAMES[5], fine),
];

/// All counts.
pub(in crate::bench) struct Counts<'p> {
    playing: Playing<'p>,
    bench: Bench,
    figures: Figures,
}

impl<'p> Counts<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs) -> Result<Self> {
        let figures = Figures::load()?.context("`cargo xtask costs --write store` records figures first")?;
        Ok(Self { playing: Playing::new(programs), bench: Bench::build()?, figures })
    }

    /// By the part of the program.
    fn of_workload(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        let row = self.figures.get(name).with_context(|| format!("no figures of {name}"))?;
        let profile = grouped(&self.bench, name, part).context(name.to_owned())?;
        let of = |part: &str| profile.groups.get(part).copied().unwrap_or_default().max(0.0);
        let mut counts = vec![
            ("instructions", row.instructions.unwrap_or(f64::NAN)),
            ("calls of functions", profile.calls),
            ("allocations", row.allocations),
            ("bytes allocated", row.bytes),
        ];
        counts.extend(PARTS.map(|part| (part, of(part))));
        Ok(counts)
    }

    fn calls(&self, way: Way) -> Result<Vec<(&'static str, f64)>> {
        let calls = Calls::count(&self.playing, way)?;
        let mut counts = vec![("system calls", calls.sum())];
        counts.extend(NAMES.map(|name| (name, calls.of(name))));
        Ok(counts)
    }
}

impl Suite for Counts<'_> {
    type Work = Counted;

    fn name(&self) -> &'static str {
        "store-counts"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Counted>> {
        let workloads = WORKLOADS.map(|(name, title)| Contest::new(title, Counted::Workload(name), alone()));
        let calls = ways().into_iter().map(|way| Contest::new(way.title(), Counted::Calls(way), alone()));
        workloads.into_iter().chain(calls).collect()
    }

    fn measure(&mut self, _: &Contest<Counted>, _: &Entry, _: usize) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    fn count(&mut self, contest: &Contest<Counted>, _: &Entry) -> Result<Vec<(&'static str, f64)>> {
        match contest.work {
            Counted::Workload(name) => self.of_workload(name),
            Counted::Calls(way) => self.calls(way),
        }
    }

    fn heading(&self) -> Result<String> {
        heading()
    }
}
