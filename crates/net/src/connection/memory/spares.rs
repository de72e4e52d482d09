//! Memory that a connection has used and keeps for its next streams: heads, buffers of content, and a list of
//! parts.
//!
//! Buffers of content are charged while they are kept, so whoever lends or frees one tells how many bytes it
//! has.

use alula_fields::Head;

use crate::{
    connection::memory::{contents::Contents, heads::Heads},
    message::content::Content,
    transport::read_buf::ReadBuf,
};

#[derive(Default)]
pub(crate) struct Spares {
    heads: Heads,
    contents: Contents,
    /// An emptied list of content parts.
    list: Content,
    /// The bytes of content buffers that were taken for other uses, and are still to be subtracted.
    taken: usize,
}

/// Heads.
impl Spares {
    /// Returns an empty head, a used one if there is any.
    #[inline]
    pub(crate) fn lend_head(&mut self) -> Box<Head> {
        self.heads.lend()
    }

    /// Takes a head back.
    #[inline]
    pub(crate) fn give_head(&mut self, head: Box<Head>) {
        self.heads.give(head);
    }

    /// Makes room for the heads of so many messages.
    pub(crate) fn expect_heads(&mut self, messages: usize) {
        self.heads.expect(messages);
    }

    /// Exchanges the heads and their capacity with another connection's.
    #[inline]
    pub(crate) fn exchange_heads(&mut self, heads: &mut Heads) {
        std::mem::swap(&mut self.heads, heads);
    }

    /// Leaves the heads to the thread.
    pub(crate) fn leave_heads(&mut self) {
        self.heads.leave();
    }

    /// Returns the bytes of the heads that are kept.
    pub(crate) const fn head_bytes(&self) -> usize {
        self.heads.bytes()
    }
}

/// Content.
impl Spares {
    /// Returns a buffer for content, preferably a used one.
    #[inline]
    pub(crate) fn lend_content(&mut self) -> Content {
        self.contents.lend()
    }

    /// Keeps an emptied buffer.
    pub(crate) fn keep_content(&mut self, content: Content) {
        self.contents.keep(content);
    }

    /// Leaves the buffers to another connection, unless they have more bytes than this.
    pub(crate) fn leave_contents(&mut self, to: &mut Contents, bytes_max: usize) {
        if self.contents.bytes() <= bytes_max {
            std::mem::swap(&mut self.contents, to);
        }
    }

    /// Takes over buffers.
    pub(crate) fn use_contents(&mut self, from: &mut Contents) {
        self.contents.join(from);
    }

    /// Frees the buffers. Returns their bytes.
    pub(crate) fn drop_contents(&mut self) -> usize {
        std::mem::take(&mut self.contents).bytes()
    }

    /// Keeps the list of parts of content whose memory went to the program.
    #[cold]
    pub(crate) fn keep_list(&mut self, mut list: Content) {
        if self.list.is_none() {
            list.clear();
            self.list = list;
        }
    }

    /// Takes the list of parts out.
    pub(crate) fn take_list(&mut self) -> Content {
        std::mem::take(&mut self.list)
    }

    /// Returns the largest memory of the kept content, to read into: it soon fits whatever comes. Its bytes
    /// count as taken.
    pub(crate) fn widest_memory(&mut self) -> ReadBuf {
        let Some(mut spare) = self.contents.take_widest() else { return ReadBuf::default() };
        self.taken += spare.capacity();
        let memory = spare.take_memory();
        self.keep_list(spare);
        ReadBuf::on(memory)
    }

    /// Returns the bytes of content buffers that were taken for other uses since the last call.
    #[inline]
    pub(crate) fn take_taken(&mut self) -> usize {
        std::mem::take(&mut self.taken)
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
        let mut spares = Spares::default();
        spares.keep_content(content(5_000));
        spares.keep_content(content(10));
        assert!(spares.lend_content().capacity() > spares.lend_content().capacity());
        assert_eq!((spares.drop_contents(), spares.lend_content().capacity()), (0, 0));
        spares.keep_content(content(10));
        assert!(spares.drop_contents() > 0 && spares.lend_content().is_none());
    }

    #[test]
    fn the_largest_memory_becomes_a_buffer_to_read_into_and_its_list_is_kept() {
        let mut spares = Spares::default();
        (1..4).for_each(|times| spares.keep_content(content(5_000 * times)));
        let memory = spares.widest_memory();
        assert!(memory.is_empty() && memory.capacity() >= 15_000);
        assert_eq!((spares.take_taken(), spares.take_taken()), (memory.capacity(), 0));
        assert!(!spares.take_list().is_none() && spares.take_list().is_none());
        assert_eq!(Spares::default().widest_memory().capacity(), 0);
    }
}
