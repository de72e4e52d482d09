//! Owned pieces of content.
//!
//! Rule 1: a long piece leaves with the buffer it was read into, if it fills half of that; any other is
//! copied. A piece that is kept therefore holds at most twice its length.
//! Rule 2: memory that leaves is no longer charged to its connection, but to the memory of all connections
//! until it is dropped.
//! Rule 3: the length of what left stays in [`Body::chunk`], so that the window gets it back with the next
//! piece.

use std::ops::Range;
#[cfg(any(feature = "http", feature = "stream"))]
use std::task::{Context, Poll, ready};

use alula_machine::Reservation;
use bytes::Bytes;

use super::Body;
#[cfg(any(feature = "http", feature = "stream"))]
use crate::error::Error;
use crate::handle::stream::Stream;

/// The bytes from which on a piece is charged, and moved if possible: below, a copy costs less than a new
/// buffer for the connection.
const LONG_MIN: usize = 4 * 1024;

/// The memory of a piece, charged until it is dropped.
struct Kept {
    memory: Vec<u8>,
    place: Range<usize>,
    _charge: Reservation,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.memory[self.place.clone()]
    }
}

impl Body {
    /// Waits for the next piece. A poll that is not ready loses nothing.
    #[cfg(any(feature = "http", feature = "stream"))]
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        self.check_untaken()?;
        if self.unread().is_empty() && !ready!(self.poll_fill(cx))? {
            return Poll::Ready(Ok(None));
        }
        Poll::Ready(Ok(Some(self.take_piece())))
    }

    /// Takes all content that has come, which is at least one byte, as one piece.
    pub(super) fn take_piece(&mut self) -> Bytes {
        let bytes = if self.decoder.is_some() { self.unread().len() } else { self.chunk.left() };
        if bytes < LONG_MIN {
            return Bytes::from(self.copied(bytes));
        }
        if self.decoder.is_none() && self.chunk.capacity() <= 2 * bytes {
            self.moved()
        } else {
            let memory = self.copied(bytes);
            self.charged(memory, 0..bytes, false)
        }
    }

    fn moved(&mut self) -> Bytes {
        let (memory, place) = self.chunk.take_joined();
        self.charged(memory, place, true)
    }

    fn copied(&mut self, bytes: usize) -> Vec<u8> {
        let mut copy = Vec::with_capacity(bytes);
        while copy.len() < bytes {
            copy.extend_from_slice(self.take(self.unread().len()));
        }
        copy
    }

    fn charged(&self, memory: Vec<u8>, place: Range<usize>, has_left: bool) -> Bytes {
        match &self.stream {
            Some(stream) => {
                let charge = stream.charge_kept(memory.capacity(), has_left);
                Bytes::from_owner(Kept { memory, place, _charge: charge })
            }
            None => Bytes::from(memory).slice(place),
        }
    }
}

impl Stream {
    /// Charges memory that the program keeps to the budget of all connections; `has_left` says that it was
    /// the connection's before.
    fn charge_kept(&self, bytes: usize, has_left: bool) -> Reservation {
        let mut connection = self.conn().lock();
        if has_left {
            connection.held.content_went(bytes);
            connection.settle_memory();
        }
        let charge = connection.ledger.hold(bytes as u64);
        self.conn().unlock_and_wake(connection);
        charge
    }

    /// Returns the bytes of content that were not taken yet, if the peer has stated the length.
    pub(super) fn content_left(&self) -> Option<u64> {
        let mut connection = self.conn().lock();
        let slot = connection.slots.get(self.at())?;
        let (here, stream) = (u64::from(slot.incoming.content().len()), slot.stream);
        if slot.incoming.has_ended() {
            return Some(here);
        }
        connection.machine.content_left(stream?).map(|more| more.saturating_add(here))
    }

    /// Returns true if a [`Body`] has nothing left to return.
    #[cfg(feature = "http")]
    pub(super) fn is_all_told(&self) -> bool {
        self.with_slot(|slot| slot.incoming.is_all_told()) == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::content::Content;

    /// Returns a body with parts of these lengths, nine bytes apart, in a buffer of `capacity` bytes; and
    /// where the first part lies.
    fn body_of(parts: &[u32], capacity: usize) -> (Body, *const u8) {
        let (mut bytes, mut places) = (vec![0; capacity], Vec::new());
        let mut start = 0;
        for (part, byte) in parts.iter().zip(1u8..) {
            start += 9;
            bytes[start as usize..(start + part) as usize].fill(byte);
            places.push(start..start + part);
            start += part;
        }
        let first = bytes[9..].as_ptr();
        let mut chunk = Content::default();
        assert!(places[1..].iter().all(|place| chunk.note_part(place.clone(), parts.len())));
        chunk.hold(bytes, places[0].clone());
        let mut body = Body::default();
        body.chunk = chunk;
        (body, first)
    }

    /// Takes the piece, and says whether it lies where it was read.
    fn piece_of(parts: &[u32], capacity: usize) -> (Bytes, bool) {
        let (mut body, first) = body_of(parts, capacity);
        let piece = body.take_piece();
        assert_eq!(piece.len() as u32, parts.iter().sum::<u32>());
        assert!(
            body.chunk.left() == 0 && body.chunk.len() == piece.len() as u32,
            "the window gets it all back"
        );
        let is_moved = piece.as_ptr() == first;
        (piece, is_moved)
    }

    #[test]
    fn a_long_piece_moves_with_its_buffer_if_it_fills_half_of_it() {
        assert!(piece_of(&[4096], 8192).1);
        assert!(!piece_of(&[4096], 8193).1, "it would hold more than twice its length");
        assert!(!piece_of(&[4095], 4200).1, "it is short");
        assert!(piece_of(&[16_384, 16_384, 100], 65_536).1);
        assert!(!piece_of(&[16_384], 65_536).1);
    }

    #[test]
    fn parts_are_joined_whether_or_not_they_move() {
        for capacity in [10_000, 60_000] {
            let (piece, is_moved) = piece_of(&[5000, 10, 4000], capacity);
            let expected = [&[1; 5000][..], &[2; 10], &[3; 4000]].concat();
            assert_eq!((piece[..] == expected, is_moved), (true, capacity == 10_000));
        }
        let (mut body, first) = body_of(&[5000, 10, 4000], 10_000);
        let read = body.take(4000).len();
        let piece = body.take_piece();
        assert_eq!((read, piece.len(), piece.as_ptr()), (4000, 5010, first.wrapping_add(4000)));
        assert!(piece[..] == [&[1; 1000][..], &[2; 10], &[3; 4000]].concat());
    }
}
