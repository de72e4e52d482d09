//! The record of the streams that closed last.
//!
//! A frame for a closed stream is late, and ignored, if we have reset it; it is an error if both sides had
//! ended it, or if the peer itself has reset it (RFC 9113 §5.1). Older streams are forgotten.

use alloc::vec::Vec;

/// The way in which a stream closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Closed {
    /// Both sides sent END_STREAM.
    Ended,
    /// This side sent RST_STREAM, or refused the stream with GOAWAY.
    ResetByUs,
    /// The peer sent RST_STREAM.
    ResetByPeer,
}

/// A ring of the last closed identifiers; a search checks all of them, but only unusual frames cause one.
///
/// It grows by use, to as many as may matter.
#[derive(Clone)]
pub(crate) struct ClosedIds {
    /// The first closed identifier, while it is the only one: many connections have one stream.
    only: Entry,
    /// The entries: a power of two, or none.
    ring: Vec<Entry>,
    /// The most entries.
    count_max: usize,
    next: usize,
    /// The highest identifier that was dropped.
    forgotten: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    id: u32,
    how: Closed,
}

const NOTHING: Entry = Entry { id: 0, how: Closed::Ended };

/// The least number of entries, for connections with few streams.
const COUNT_MIN: usize = 8;

impl ClosedIds {
    /// Creates a record of a power of two above `streams`, at least 64. Allocates nothing yet.
    pub(crate) fn new(streams: usize) -> Self {
        Self {
            only: NOTHING,
            ring: Vec::new(),
            count_max: streams.next_power_of_two().max(64),
            next: 0,
            forgotten: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, id: u32, how: Closed) {
        let entry = Entry { id, how };
        if self.next >= self.ring.len() && self.ring.len() < self.count_max {
            if self.only.id == NOTHING.id {
                self.only = entry;
                return;
            }
            self.grow();
        }
        let mask = self.ring.len() - 1;
        let oldest = core::mem::replace(&mut self.ring[self.next & mask], entry);
        self.forgotten = self.forgotten.max(oldest.id);
        self.next = self.next.wrapping_add(1);
    }

    /// Makes room for a few entries, and for all once there are more. The ring is full and begins with the
    /// oldest.
    #[cold]
    fn grow(&mut self) {
        if !self.ring.is_empty() {
            self.ring.resize(self.count_max, NOTHING);
            return;
        }
        self.ring.resize(COUNT_MIN, NOTHING);
        self.ring[0] = self.only;
        self.next = 1;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.ring.capacity() * size_of::<Entry>()
    }

    /// Returns how a stream closed, by its latest entry; `None` if that was too long ago.
    pub(crate) fn find(&self, id: u32) -> Option<Closed> {
        if self.ring.is_empty() && self.only.id == id && id != NOTHING.id {
            return Some(self.only.how);
        }
        let mask = self.ring.len().wrapping_sub(1);
        (1..=self.ring.len())
            .map(|back| self.ring[self.next.wrapping_sub(back) & mask])
            .find(|entry| entry.id == id)
            .map(|entry| entry.how)
    }

    /// Returns true if a stream that [`find`](Self::find) does not find may have been open: it is not above
    /// all dropped ones.
    pub(crate) const fn may_have_forgotten(&self, id: u32) -> bool {
        id <= self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_the_oldest_forgotten() {
        let mut closed = ClosedIds::new(10);
        for id in (1..=131).step_by(2) {
            closed.push(id, Closed::Ended);
        }
        assert!(
            closed.may_have_forgotten(1) && closed.may_have_forgotten(3) && !closed.may_have_forgotten(5)
        );
        assert_eq!(closed.find(1), None);
        assert_eq!(closed.find(3), None);
        assert_eq!(closed.find(5), Some(Closed::Ended));
        closed.push(131, Closed::ResetByUs);
        assert_eq!(closed.find(131), Some(Closed::ResetByUs));
        assert_eq!(closed.find(133), None);
    }

    #[test]
    fn the_first_is_remembered_alone_and_beside_others() {
        let mut closed = ClosedIds::new(10);
        assert_eq!((closed.find(0), closed.find(1)), (None, None));
        closed.push(1, Closed::ResetByPeer);
        assert_eq!(
            (closed.find(1), closed.find(3), closed.memory_bytes()),
            (Some(Closed::ResetByPeer), None, 0)
        );
        closed.push(3, Closed::Ended);
        assert_eq!((closed.find(1), closed.find(3)), (Some(Closed::ResetByPeer), Some(Closed::Ended)));
        assert!(!closed.may_have_forgotten(1));
    }
}
