//! The buffers of content that a connection has used and keeps for its next streams.

use std::collections::VecDeque;

use crate::message::content::Content;

/// Buffers without content, and their bytes.
#[derive(Default)]
pub(crate) struct Contents {
    /// The buffers, used in turn, so that each soon has room for the largest content.
    buffers: VecDeque<Content>,
    bytes: usize,
}

impl Contents {
    /// Returns the bytes of all buffers.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a buffer, preferably a used one.
    #[inline]
    pub(in crate::connection) fn lend(&mut self) -> Content {
        let content = self.buffers.pop_front().unwrap_or_default();
        self.bytes -= content.capacity();
        content
    }

    /// Keeps an emptied buffer.
    pub(in crate::connection) fn keep(&mut self, mut content: Content) {
        content.clear();
        self.bytes += content.capacity();
        self.buffers.push_back(content);
    }

    /// Takes over other buffers.
    pub(in crate::connection) fn join(&mut self, others: &mut Self) {
        if self.buffers.is_empty() {
            std::mem::swap(self, others);
        } else {
            others.bytes = 0;
            others.buffers.drain(..).for_each(|content| self.keep(content));
        }
    }

    /// Takes the buffer with the largest memory.
    pub(in crate::connection) fn take_widest(&mut self) -> Option<Content> {
        let sizes = self.buffers.iter().map(Content::initialised).enumerate();
        let (place, _) = sizes.max_by_key(|(_, size)| *size)?;
        let widest = self.buffers.remove(place)?;
        self.bytes -= widest.capacity();
        Some(widest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(bytes: usize) -> Content {
        let mut content = Content::default();
        content.append(&vec![1; bytes], true);
        content
    }

    #[test]
    fn buffers_are_lent_in_turn_and_counted() {
        let mut contents = Contents::default();
        contents.keep(content(5_000));
        contents.keep(content(10));
        let both = contents.bytes();
        assert!(contents.lend().capacity() > contents.lend().capacity());
        assert!(both > 5_000 && contents.bytes() == 0 && contents.lend().is_none());
    }

    #[test]
    fn those_of_another_connection_are_counted_too() {
        let (mut contents, mut others) = (Contents::default(), Contents::default());
        others.keep(content(10));
        let bytes = others.bytes();
        contents.join(&mut others);
        assert_eq!((contents.bytes(), others.bytes()), (bytes, 0));
        others.keep(content(10));
        contents.join(&mut others);
        assert_eq!((contents.bytes(), others.bytes()), (2 * bytes, 0));
    }

    #[test]
    fn the_widest_is_taken_first() {
        let mut contents = Contents::default();
        (1..4).for_each(|times| contents.keep(content(5_000 * times)));
        let widest = contents.take_widest().unwrap();
        assert!(widest.capacity() >= 15_000 && contents.bytes() < 3 * widest.capacity());
        assert!(Contents::default().take_widest().is_none());
    }
}
