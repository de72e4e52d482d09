//! Output for a socket: initialised bytes and two cursors.
//!
//! `sent..end` is what is still to be written. Behind `end` lie initialised bytes, so that an encoder can
//! take room for the worst case, write plainly, and keep what it used. Marks count from the first unsent
//! byte, so that growing and moving up leave them valid; only [`OutBuf::consume`] and [`OutBuf::clear`] make
//! them void.

use alloc::vec::Vec;
use core::fmt;

use alula_fields::bytes::{SHORT, copy_short};

/// The smallest capacity that is allocated: a small answer.
const BYTES_MIN: usize = 128;

/// A buffer that encoders append to and a socket takes from.
///
/// Allocates when it grows, at least to twice its size, and never otherwise. Consumed bytes are used again
/// without being moved as long as everything gets sent.
///
/// ```
/// use alula::machine::OutBuf;
///
/// let mut out = OutBuf::new();
/// out.extend(b"head");
/// let spare = out.spare(8);
/// spare[..5].copy_from_slice(b" body");
/// out.commit(5);
/// assert_eq!(out.unsent(), b"head body");
/// out.consume(5);
/// assert_eq!(out.unsent(), b"body");
/// ```
#[derive(Default, Clone)]
pub struct OutBuf {
    /// The initialised memory: the bytes, and the room behind them.
    bytes: Vec<u8>,
    sent: usize,
    end: usize,
}

impl OutBuf {
    /// Creates an empty buffer; allocates nothing.
    #[inline]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), sent: 0, end: 0 }
    }

    /// Creates an empty buffer with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: alloc::vec![0; bytes], sent: 0, end: 0 }
    }

    /// Returns the number of bytes that are unsent.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.sent
    }

    /// Returns true if everything is sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sent == self.end
    }

    /// Returns the unsent bytes.
    #[inline]
    pub fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..self.end]
    }

    /// Returns the memory held, in bytes, used or not.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Drops the first `sent` unsent bytes, which a write has taken. Marks made before are void.
    ///
    /// # Panics
    /// When fewer are unsent.
    #[inline]
    pub fn consume(&mut self, sent: usize) {
        assert!(sent <= self.len(), "no more is consumed than is unsent");
        self.sent += sent;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Appends one byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        self.spare(1)[0] = byte;
        self.end += 1;
    }

    /// Appends bytes.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.spare(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Appends bytes like [`extend`](Self::extend), for short ones: up to 32 are copied without a call.
    #[inline]
    pub fn extend_short(&mut self, bytes: &[u8]) {
        match self.bytes.get_mut(self.end..).and_then(|room| room.first_chunk_mut()) {
            Some(room) if bytes.len() <= SHORT => copy_short(room, bytes),
            _ => return self.extend(bytes),
        }
        self.end += bytes.len();
    }

    /// Returns at least this much room after the end; its bytes are initialised but have no meaning.
    #[inline]
    pub fn spare(&mut self, at_least: usize) -> &mut [u8] {
        if self.bytes.len() - self.end < at_least {
            self.make_room(at_least);
        }
        &mut self.bytes[self.end..]
    }

    /// Appends the first `written` bytes of the room that [`spare`](Self::spare) returned.
    ///
    /// # Panics
    /// When there is less room than that.
    #[inline]
    pub fn commit(&mut self, written: usize) {
        assert!(written <= self.bytes.len() - self.end, "no more is committed than there was room");
        self.end += written;
    }

    /// Returns a mark at the end. It stays valid until bytes are consumed or the buffer is cleared.
    #[inline]
    pub fn end(&self) -> usize {
        self.len()
    }

    /// Returns the bytes that were appended since the mark.
    ///
    /// # Panics
    /// When the mark is behind the end.
    #[inline]
    pub fn since(&self, mark: usize) -> &[u8] {
        &self.bytes[self.sent + mark..self.end]
    }

    /// Returns the bytes since the mark for changes, such as to a length that is known only now.
    ///
    /// # Panics
    /// When the mark is behind the end.
    #[inline]
    pub fn since_mut(&mut self, mark: usize) -> &mut [u8] {
        &mut self.bytes[self.sent + mark..self.end]
    }

    /// Removes the bytes since the mark; does nothing if the mark is behind the end.
    #[inline]
    pub fn truncate(&mut self, mark: usize) {
        self.end = self.end.min(self.sent + mark);
    }

    /// Removes all bytes and keeps the memory. Marks are void.
    #[inline]
    pub fn clear(&mut self) {
        (self.sent, self.end) = (0, 0);
    }

    /// Frees memory if more than `bytes_max` is held, down to that or to the unsent bytes.
    pub fn trim(&mut self, bytes_max: usize) {
        if self.capacity() > bytes_max {
            self.move_up();
            self.bytes.truncate(bytes_max.max(self.end));
            self.bytes.shrink_to_fit();
        }
    }

    /// Moves the unsent bytes to the front if that makes enough room; otherwise grows.
    #[cold]
    fn make_room(&mut self, at_least: usize) {
        self.move_up();
        let needed = self.end + at_least;
        if self.bytes.len() < needed {
            if self.bytes.capacity() == 0 {
                self.bytes = Vec::with_capacity(needed.max(BYTES_MIN));
            }
            self.bytes.resize(needed.max(2 * self.bytes.len()).max(BYTES_MIN), 0);
        }
    }

    fn move_up(&mut self) {
        self.bytes.copy_within(self.sent..self.end, 0);
        (self.sent, self.end) = (0, self.len());
    }
}

impl fmt::Debug for OutBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutBuf").field("unsent", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let (mut out, mut model) = (OutBuf::new(), Vec::new());
        for round in 0..1000_usize {
            let bytes: Vec<u8> = (0..round % 37).map(|at| (round + at) as u8).collect();
            match round % 3 {
                0 => out.extend(&bytes),
                1 => bytes.iter().for_each(|byte| out.push(*byte)),
                _ => {
                    out.spare(bytes.len() + 5)[..bytes.len()].copy_from_slice(&bytes);
                    out.commit(bytes.len());
                }
            }
            model.extend_from_slice(&bytes);
            let taken = (round * 7 % 41).min(model.len());
            out.consume(taken);
            model.drain(..taken);
            assert_eq!(out.unsent(), model);
            assert_eq!((out.len(), out.is_empty()), (model.len(), model.is_empty()));
        }
    }

    #[test]
    fn marks_survive_growing_and_moving_up() {
        let mut out = OutBuf::with_capacity(8);
        out.extend(b"123456");
        out.consume(4);
        let mark = out.end();
        out.extend(b"length?");
        out.extend(&[b'.'; 100]);
        out.since_mut(mark)[6] = b'!';
        assert_eq!(&out.since(mark)[..7], b"length!");
        out.truncate(mark);
        assert_eq!(out.unsent(), b"56");
        out.truncate(1000);
        assert_eq!(out.unsent(), b"56");
    }

    #[test]
    fn trimming_keeps_what_is_unsent() {
        let mut out = OutBuf::with_capacity(4096);
        out.extend(&[b'a'; 100]);
        out.consume(50);
        out.trim(16);
        assert_eq!(out.unsent(), [b'a'; 50]);
        assert!(out.capacity() < 128);
        out.clear();
        out.trim(0);
        assert_eq!(out.capacity(), 0);
    }

    #[test]
    #[should_panic(expected = "no more is consumed")]
    fn consuming_too_much_is_a_mistake() {
        OutBuf::new().consume(1);
    }
}
