//! Entries that dots keep: an entry stays while one of the changes that made it is not removed.

use std::slice;

use crate::model::bytes::{Bytes, put_number};
use crate::model::types::Seen;
use crate::model::{Actor, Dot};

/// The fewest bytes of a dot in stored form.
const DOT_BYTES_MIN: usize = 9;

/// The fewest bytes of a set of one dot in stored form.
pub(in crate::model::types) const DOT_SET_BYTES_MIN: usize = 1 + DOT_BYTES_MIN;

/// A value for each of some dots, which ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::model::types) struct DotMap<T>(Vec<(Dot, T)>);

/// The dots of the changes that keep an element, a field or a flag, ascending. Nearly all sets have one dot,
/// which is kept in place: a data type may have millions of elements.
#[derive(Clone, Debug)]
pub(in crate::model::types) enum DotSet {
    One((Dot, ())),
    Any(Vec<(Dot, ())>),
}

impl<T> Default for DotMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> DotMap<T> {
    pub(in crate::model::types) fn of(dot: Dot, value: T) -> Self {
        Self(vec![(dot, value)])
    }

    pub(in crate::model::types) fn values(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    pub(in crate::model::types) fn into_values(self) -> impl Iterator<Item = T> {
        self.0.into_iter().map(|(_, value)| value)
    }

    pub(in crate::model::types) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Removes the dots that have been seen.
    pub(in crate::model::types) fn forget(&mut self, seen: &impl Seen) {
        self.0.retain(|(dot, _)| !seen.sees(*dot));
    }

    /// Merges the dots of two states: one that the other state has seen and lacks was removed there.
    pub(in crate::model::types) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.0 = merged(&self.0, ours, &other.0, theirs);
    }

    pub(in crate::model::types) fn put(&self, put_value: impl Fn(&T, &mut Vec<u8>), out: &mut Vec<u8>) {
        put_entries(&self.0, put_value, out);
    }

    pub(in crate::model::types) fn read<'a>(
        bytes: &mut Bytes<'a>,
        read_value: impl Fn(&mut Bytes<'a>) -> Option<T>,
    ) -> Option<Self> {
        let count = bytes.number()?;
        // Most have one dot, and a vector makes room for four at once.
        let mut dots = Self(Vec::with_capacity(count.min(2) as usize));
        for _ in 0..count {
            let dot = read_dot(bytes)?;
            if dots.0.last().is_some_and(|(last, _)| *last >= dot) {
                return None;
            }
            dots.0.push((dot, read_value(bytes)?));
        }
        Some(dots)
    }
}

impl Default for DotSet {
    fn default() -> Self {
        Self::Any(Vec::new())
    }
}

impl PartialEq for DotSet {
    fn eq(&self, other: &Self) -> bool {
        self.entries() == other.entries()
    }
}

impl Eq for DotSet {}

impl DotSet {
    pub(in crate::model::types) const fn of(dot: Dot) -> Self {
        Self::One((dot, ()))
    }

    fn entries(&self) -> &[(Dot, ())] {
        match self {
            Self::One(dot) => slice::from_ref(dot),
            Self::Any(dots) => dots,
        }
    }

    /// Returns true if no dot is left.
    pub(in crate::model::types) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Removes the dots that have been seen.
    pub(in crate::model::types) fn forget(&mut self, seen: &impl Seen) {
        match self {
            Self::One((dot, ())) if seen.sees(*dot) => *self = Self::default(),
            Self::One(_) => {}
            Self::Any(dots) => dots.retain(|(dot, ())| !seen.sees(*dot)),
        }
    }

    /// Merges the dots of two states: one that the other state has seen and lacks was removed there.
    pub(in crate::model::types) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        if self != other {
            *self = Self::of_entries(merged(self.entries(), ours, other.entries(), theirs));
        }
    }

    fn of_entries(entries: Vec<(Dot, ())>) -> Self {
        match entries[..] {
            [dot] => Self::One(dot),
            _ => Self::Any(entries),
        }
    }

    pub(in crate::model::types) fn put(&self, out: &mut Vec<u8>) {
        put_entries(self.entries(), |(), _| {}, out);
    }

    pub(in crate::model::types) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        match bytes.number()? {
            0 => Some(Self::default()),
            1 => read_dot(bytes).map(Self::of),
            count => Self::read_many(bytes, count),
        }
    }

    fn read_many(bytes: &mut Bytes<'_>, count: u64) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        // No record makes more room than its bytes can fill.
        if count > bytes.rest().len() / DOT_BYTES_MIN {
            return None;
        }
        let mut dots: Vec<(Dot, ())> = Vec::with_capacity(count);
        for _ in 0..count {
            let dot = read_dot(bytes)?;
            if dots.last().is_some_and(|(last, ())| *last >= dot) {
                return None;
            }
            dots.push((dot, ()));
        }
        Some(Self::Any(dots))
    }
}

fn merged<T: Clone>(
    own: &[(Dot, T)],
    ours: &impl Seen,
    other: &[(Dot, T)],
    theirs: &impl Seen,
) -> Vec<(Dot, T)> {
    let contains = |dots: &[(Dot, T)], dot| dots.binary_search_by_key(&dot, |(dot, _)| *dot).is_ok();
    let stays = own.iter().filter(|(dot, _)| contains(other, *dot) || !theirs.sees(*dot));
    let new = other.iter().filter(|(dot, _)| !ours.sees(*dot) && !contains(own, *dot));
    let mut merged: Vec<_> = stays.chain(new).cloned().collect();
    merged.sort_unstable_by_key(|(dot, _)| *dot);
    merged
}

fn put_entries<T>(entries: &[(Dot, T)], put_value: impl Fn(&T, &mut Vec<u8>), out: &mut Vec<u8>) {
    put_number(entries.len() as u64, out);
    for (dot, value) in entries {
        put_dot(*dot, out);
        put_value(value, out);
    }
}

pub(in crate::model::types) fn put_dot(dot: Dot, out: &mut Vec<u8>) {
    out.extend_from_slice(&dot.actor().number().to_be_bytes());
    put_number(dot.count(), out);
}

pub(in crate::model::types) fn read_dot(bytes: &mut Bytes<'_>) -> Option<Dot> {
    let actor = Actor::new(u64::from_be_bytes(bytes.array()?));
    Dot::new(actor, bytes.number()?)
}
