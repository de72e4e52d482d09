//! Counts of different elements: one sketch for each change that was kept.
//!
//! A change gathers all sketches into its own, so that there are several only of changes that were made at
//! once.

use std::mem::take;

use super::parts::dot_map::DotMap;
use super::sketch::Sketch;
use super::{Elements, Making, Precision, Seen};
use crate::model::bytes::Bytes;

/// A count of different elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinct {
    precision: Precision,
    sketches: DotMap<Sketch>,
}

impl Distinct {
    pub(super) fn new(precision: Precision) -> Self {
        Self { precision, sketches: DotMap::default() }
    }

    /// Returns the precision of the estimate.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the estimate, rounded: exact for few elements.
    pub fn estimate(&self) -> u64 {
        let mut sketches = self.sketches.values();
        let Some(first) = sketches.next() else { return Sketch::new(self.precision).estimate() };
        if sketches.clone().next().is_none() {
            return first.estimate();
        }
        // One copy, however many there are.
        let mut gathered = first.clone();
        gathered.merge(sketches);
        gathered.estimate()
    }

    pub(super) fn add(&mut self, elements: Elements<'_>, change: &Making<'_>) {
        let mut gathered = gathered(self.precision, take(&mut self.sketches));
        gathered.add(elements);
        self.sketches = DotMap::of(change.dot, gathered);
    }

    /// Lowers the precision, with the same result as if it had been lower from the start. A greater one
    /// changes nothing.
    pub fn reduce(&mut self, precision: Precision) {
        self.precision = precision.min(self.precision);
        self.sketches.values_mut().for_each(|sketch| sketch.reduce(precision));
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.sketches.forget(seen);
    }

    /// Merges two counts at the lower precision of both.
    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.sketches.merge(ours, &other.sketches, theirs);
        self.reduce(other.precision.min(self.precision));
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.precision.bits());
        self.sketches.put(Sketch::put, out);
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let precision = Precision::new(bytes.byte()?)?;
        let read_sketch =
            |bytes: &mut Bytes<'_>| Sketch::read(bytes).filter(|sketch| sketch.precision() == precision);
        Some(Self { precision, sketches: DotMap::read(bytes, read_sketch)? })
    }
}

/// Returns the sketch of all sketches.
fn gathered(precision: Precision, sketches: DotMap<Sketch>) -> Sketch {
    let mut sketches = sketches.into_values();
    let mut gathered = sketches.next().unwrap_or_else(|| Sketch::new(precision));
    gathered.reduce(precision);
    let others: Vec<_> = sketches.collect();
    if !others.is_empty() {
        gathered.merge(others.iter());
    }
    gathered
}
