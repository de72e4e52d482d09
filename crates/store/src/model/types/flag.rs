//! Flags: on while a change that turned them on is not removed.

use super::parts::dot_map::DotSet;
use super::{Making, Seen};
use crate::model::bytes::Bytes;

/// A flag. Turned on and off at once, it is on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flag(DotSet);

impl Flag {
    /// Returns true if the flag is on.
    pub fn is_on(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn turn(&mut self, on: bool, change: &Making<'_>) {
        match (on, &change.context) {
            (true, _) => self.0 = DotSet::of(change.dot),
            (false, Some(context)) => self.0.forget(context),
            (false, None) => self.0 = DotSet::default(),
        }
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.forget(seen);
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.0.merge(ours, &other.0, theirs);
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        DotSet::read(bytes).map(Self)
    }
}
