//! A few bytes of text without an allocation.

use core::fmt;

/// Text of at most `N` bytes; the rest is cut off.
pub(crate) struct Text<const N: usize> {
    len: usize,
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self { len: 0, bytes: [0; N] }
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.len..];
        let len = text.len().min(room.len());
        room[..len].copy_from_slice(&text.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}
