//! The bytes of a section or of control data: initialised room and one cursor.
//!
//! Behind the end lie initialised bytes, as in the `OutBuf` of `alula-machine`, so that a short string is
//! copied by words that overlap, without a call of `memcpy`.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut, Range};

use crate::name::lanes::{self, SHORT};

/// The smallest capacity of an arena: the values of a usual request, and room for a short one behind.
const BYTES_MIN: usize = 256;

/// Bytes that are appended to and read as a slice. Allocates when it grows, at least to twice its size.
#[derive(Default)]
pub(crate) struct Arena {
    /// The initialised memory: the bytes, and the room behind them.
    room: Vec<u8>,
    end: usize,
}

impl Arena {
    /// Creates an empty arena; allocates nothing.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { room: Vec::new(), end: 0 }
    }

    /// Creates an empty arena with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { room: alloc::vec![0; bytes], end: 0 }
    }

    /// Returns the memory that begins with the bytes, to look up spans that exist.
    #[inline]
    pub(crate) fn room(&self) -> &[u8] {
        &self.room
    }

    /// Returns the number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end
    }

    /// Returns the memory held, in bytes.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.room.capacity()
    }

    /// Appends bytes. Costs about fifteen instructions for up to 32 of them, and a call of `memcpy` for more.
    #[inline(always)]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        match self.room_behind() {
            Some(room) if bytes.len() <= SHORT => lanes::copy_short(room, bytes),
            _ => return self.append_long(bytes),
        }
        self.end += bytes.len();
    }

    /// Returns the room behind the end, if there is enough.
    #[inline(always)]
    pub(crate) fn room_behind<const LEN: usize>(&mut self) -> Option<&mut [u8; LEN]> {
        self.room.get_mut(self.end..)?.first_chunk_mut()
    }

    /// Appends bytes that were written to the room behind the end.
    #[inline(always)]
    pub(crate) fn commit(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// Appends bytes like [`append`](Self::append), for strings of any length or without room. Every call in
    /// it is the last thing it does, so that no register is saved.
    #[inline(never)]
    fn append_long(&mut self, bytes: &[u8]) {
        match self.room[self.end..].get_mut(..bytes.len()) {
            Some(room) => {
                self.end += bytes.len();
                room.copy_from_slice(bytes);
            }
            None => self.grow_and_append(bytes),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_and_append(&mut self, bytes: &[u8]) {
        self.grow(bytes.len());
        self.append_long(bytes);
    }

    /// Appends bytes like [`append`](Self::append), for long strings.
    #[inline(always)]
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        match self.room.get_mut(self.end..end) {
            Some(room) => room.copy_from_slice(bytes),
            None => return self.grow_and_append(bytes),
        }
        self.end = end;
    }

    /// Makes room for so many bytes more.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.room.len() - self.end < more {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.end + more).max(2 * self.room.len()).max(BYTES_MIN);
        match self.room.capacity() {
            0 => self.room = alloc::vec![0; len],
            _ => self.room.resize(len, 0),
        }
    }

    /// Removes every byte and keeps the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.end = 0;
    }

    /// Removes the bytes after the first `len`.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.end = self.end.min(len);
    }

    /// Removes a range; the bytes after it move up.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.room.copy_within(range.end..self.end, range.start);
        self.end -= range.len();
    }

    /// Frees memory down to so many bytes, or to the used ones.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        self.room.truncate(bytes.max(self.end));
        self.room.shrink_to_fit();
    }
}

impl Clone for Arena {
    /// Copies the bytes, without the room behind them.
    fn clone(&self) -> Self {
        Self { room: self.to_vec(), end: self.end }
    }
}

impl Deref for Arena {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.room[..self.end]
    }
}

impl DerefMut for Arena {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_every_length_are_appended_at_every_place() {
        let bytes: Vec<u8> = (0..100).collect();
        for before in 0..70 {
            for len in 0..100 {
                let mut arena = Arena::with_capacity(before);
                arena.append(&bytes[..before]);
                arena.append(&bytes[..len]);
                arena.append(b"end");
                assert_eq!(*arena, *[&bytes[..before], &bytes[..len], b"end"].concat());
            }
        }
    }

    #[test]
    fn a_range_is_removed_and_memory_given_back() {
        let mut arena = Arena::new();
        arena.append(b"abcdef");
        assert_eq!(arena.capacity(), BYTES_MIN);
        arena.remove(1..3);
        assert_eq!((&*arena, &*arena.clone()), (&b"adef"[..], &b"adef"[..]));
        arena.truncate(3);
        arena.truncate(10);
        arena.shrink_to(0);
        assert_eq!((&*arena, arena.capacity()), (&b"ade"[..], 3));
        arena.clear();
        assert!(arena.is_empty());
    }
}
