//! Entries that stand on dots: one stays while one of the changes that made it is not removed.

use super::Seen;
use crate::model::octets::{Octets, put_number};
use crate::model::{Actor, Dot};

/// Something for each of some dots, which ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DotMap<T>(Vec<(Dot, T)>);

/// The dots of the changes that an element, a field or a flag stands on.
pub(super) type DotSet = DotMap<()>;

impl<T> Default for DotMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> DotMap<T> {
    pub(super) fn of(dot: Dot, value: T) -> Self {
        Self(vec![(dot, value)])
    }

    /// Returns true if nothing is left to stand on.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Dot, &T)> {
        self.0.iter().map(|(dot, value)| (*dot, value))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    fn contains(&self, dot: Dot) -> bool {
        self.0.binary_search_by_key(&dot, |(dot, _)| *dot).is_ok()
    }

    /// Removes the dots that have been seen.
    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.retain(|(dot, _)| !seen.sees(*dot));
    }

    /// Merges the dots of two states: one that the other state has seen and lacks was removed there.
    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.0.retain(|(dot, _)| other.contains(*dot) || !theirs.sees(*dot));
        let new = other.0.iter().filter(|(dot, _)| !ours.sees(*dot) && !self.contains(*dot));
        let new: Vec<_> = new.cloned().collect();
        self.0.extend(new);
        self.0.sort_unstable_by_key(|(dot, _)| *dot);
    }

    pub(super) fn put(&self, put_value: impl Fn(&T, &mut Vec<u8>), out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for (dot, value) in &self.0 {
            put_dot(*dot, out);
            put_value(value, out);
        }
    }

    pub(super) fn read<'a>(
        octets: &mut Octets<'a>,
        read_value: impl Fn(&mut Octets<'a>) -> Option<T>,
    ) -> Option<Self> {
        let mut dots = Self::default();
        for _ in 0..octets.number()? {
            let dot = read_dot(octets)?;
            if dots.0.last().is_some_and(|(last, _)| *last >= dot) {
                return None;
            }
            dots.0.push((dot, read_value(octets)?));
        }
        Some(dots)
    }
}

impl DotSet {
    pub(super) fn put_dots(&self, out: &mut Vec<u8>) {
        self.put(|(), _| {}, out);
    }

    pub(super) fn read_dots(octets: &mut Octets<'_>) -> Option<Self> {
        Self::read(octets, |_| Some(()))
    }
}

pub(super) fn put_dot(dot: Dot, out: &mut Vec<u8>) {
    out.extend_from_slice(&dot.actor().number().to_be_bytes());
    put_number(dot.count(), out);
}

pub(super) fn read_dot(octets: &mut Octets<'_>) -> Option<Dot> {
    let actor = Actor::new(u64::from_be_bytes(octets.array()?));
    Dot::new(actor, octets.number()?)
}
