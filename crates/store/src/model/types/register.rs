//! Registers: the bytes that were assigned last.

use super::parts::dot_map::DotMap;
use super::{Making, Seen};
use crate::model::Moment;
use crate::model::bytes::{Bytes, put_counted};

/// A register. Of values assigned at once the latest is shown, and of those of one moment the greatest. All
/// are kept until the next one, so that removing one of them shows another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Register<'a>(DotMap<Assigned<'a>>);

/// A value; the order of its fields is the order in which they decide between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Assigned<'a> {
    at: Moment,
    bytes: &'a [u8],
}

impl<'a> Register<'a> {
    /// Returns the bytes that were assigned last; empty if nothing was assigned.
    pub fn value(&self) -> &'a [u8] {
        self.latest().map_or(&[], |assigned| assigned.bytes)
    }

    fn latest(&self) -> Option<&Assigned<'a>> {
        self.0.values().max()
    }

    /// Assigns bytes, at a moment after that of the last value.
    pub(super) fn assign(&mut self, bytes: &'a [u8], change: &Making<'_>) {
        let at = self.latest().map_or(change.now, |last| last.at.next().max(change.now));
        self.0 = DotMap::of(change.dot, Assigned { at, bytes });
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.forget(seen);
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.0.merge(ours, &other.0, theirs);
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let put_assigned = |assigned: &Assigned<'_>, out: &mut Vec<u8>| {
            out.extend_from_slice(&assigned.at.micros().to_be_bytes());
            put_counted(assigned.bytes, out);
        };
        self.0.put(put_assigned, out);
    }

    pub(super) fn read(bytes: &mut Bytes<'a>) -> Option<Self> {
        let read_assigned = |bytes: &mut Bytes<'a>| {
            let at = Moment::from_micros(u64::from_be_bytes(bytes.array()?));
            Some(Assigned { at, bytes: bytes.counted()? })
        };
        DotMap::read(bytes, read_assigned).map(Self)
    }
}
