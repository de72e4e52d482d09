//! The read buffer: bytes that were read and are not used yet.

use std::ops::Range;

/// Initialised bytes with the unread part in the middle.
#[derive(Default)]
pub(crate) struct ReadBuf {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuf {
    /// Creates an empty buffer in used memory, whose initialised bytes stay so.
    pub(crate) fn on(memory: Vec<u8>) -> Self {
        Self { bytes: memory, start: 0, end: 0 }
    }

    /// Creates a buffer with these unread bytes.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self { start: 0, end: bytes.len(), bytes }
    }

    /// Returns true if no byte is unread.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the place of these bytes, which are a part of it, in its memory.
    pub(crate) fn place_of(&self, bytes: &[u8]) -> Range<u32> {
        let start = bytes.as_ptr().addr() - self.bytes.as_ptr().addr();
        debug_assert!(start >= self.start && start + bytes.len() <= self.end);
        start as u32..(start + bytes.len()) as u32
    }

    /// Returns at least `at_least` bytes of room behind the filled ones.
    pub(crate) fn space(&mut self, at_least: usize) -> &mut [u8] {
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < at_least && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < at_least {
            self.bytes.resize(self.end + at_least, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    pub(crate) fn filled(&mut self, bytes: usize) {
        self.end += bytes;
        debug_assert!(self.end <= self.bytes.len());
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        debug_assert!(self.start <= self.end);
    }

    /// Returns the size of its memory in bytes.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
