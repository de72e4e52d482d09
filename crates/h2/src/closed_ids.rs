//! What became of the streams that closed last.
//!
//! A frame for a closed stream is late, and ignored, if we have reset it; it is an error if both sides had ended it, or
//! if the peer itself has reset it (RFC 9113 §5.1). Older streams are forgotten.

use alloc::boxed::Box;
use alloc::vec;

/// How a stream closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Closed {
    /// END_STREAM both ways.
    Ended,
    /// We sent RST_STREAM, or refused the stream with GOAWAY.
    ResetByUs,
    /// The peer sent RST_STREAM.
    ResetByPeer,
}

/// A ring of the identifiers closed last; a search looks at all of them, but only odd frames cause one.
#[derive(Clone)]
pub(crate) struct ClosedIds {
    ring: Box<[Entry]>,
    next: usize,
    /// The highest of those that had to make room.
    forgotten: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    id: u32,
    how: Closed,
}

impl ClosedIds {
    /// Remembers as many as a power of two above `streams`; one allocation.
    pub(crate) fn new(streams: usize) -> Self {
        let entry = Entry { id: 0, how: Closed::Ended };
        Self { ring: vec![entry; streams.next_power_of_two().max(64)].into(), next: 0, forgotten: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, id: u32, how: Closed) {
        let mask = self.ring.len() - 1;
        let oldest = core::mem::replace(&mut self.ring[self.next & mask], Entry { id, how });
        self.forgotten = self.forgotten.max(oldest.id);
        self.next = self.next.wrapping_add(1);
    }

    /// How a stream closed, the latest entry first; `None` if that was too long ago.
    pub(crate) fn find(&self, id: u32) -> Option<Closed> {
        let mask = self.ring.len() - 1;
        (1..=self.ring.len())
            .map(|back| self.ring[self.next.wrapping_sub(back) & mask])
            .find(|entry| entry.id == id)
            .map(|entry| entry.how)
    }

    /// Whether a stream that [`find`](Self::find) does not find may have been open: it is not above all that are forgotten.
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
}
