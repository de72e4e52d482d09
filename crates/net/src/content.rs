//! Content that was received: octets, and which of them are content.
//!
//! Rule: small content is copied to where it is wanted. Large content is not: whoever receives it gets the octets as they
//! were read, with the frames or chunks around it, and the connection reads on into others.

use std::ops::Range;

/// The least that a buffer holds; larger ones are powers of two, so that they soon fit whatever comes.
const OCTETS_MIN: usize = 4 * 1024;
/// A frame of that size or more is taken for the first of several: its buffer gets room for eight.
const LARGE_FRAME: usize = 4 * 1024;
/// But no more room than this.
const FORESIGHT_MAX: usize = 128 * 1024;

/// Content in parts, of which the first ones may have been read.
#[derive(Default)]
pub(crate) struct Content {
    /// All that is initialised, which is kept so: what is no content is between the parts.
    octets: Vec<u8>,
    /// What is to be read next.
    now: Range<u32>,
    /// What follows, in order.
    more: Vec<Range<u32>>,
    /// So many of those were read.
    read: usize,
    /// Octets of content, read or not.
    len: u32,
}

impl Content {
    /// All of these octets.
    pub(crate) fn whole(octets: Vec<u8>) -> Self {
        let len = octets.len() as u32;
        Self { octets, now: 0..len, more: Vec::new(), read: 0, len }
    }

    /// These parts of the octets.
    pub(crate) fn in_parts(octets: Vec<u8>, first: Range<u32>, more: Vec<Range<u32>>) -> Self {
        let len = first.len() + more.iter().map(Range::len).sum::<usize>();
        Self { octets, now: first, more, read: 0, len: len as u32 }
    }

    /// The octets of content, whether or not they were read.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What its memory could hold.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.octets.capacity()
    }

    /// What is initialised of its memory.
    pub(crate) fn initialised(&self) -> usize {
        self.octets.len()
    }

    /// Appends, with room for more of the same unless memory is tight; says by how much the capacity grew.
    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8], is_tight: bool) -> usize {
        let before = self.octets.capacity();
        let last = self.more.last_mut().unwrap_or(&mut self.now);
        let end = last.end as usize;
        last.end += bytes.len() as u32;
        self.len += bytes.len() as u32;
        if let Some(room) = self.octets.get_mut(end..end + bytes.len()) {
            room.copy_from_slice(bytes);
            return 0;
        }
        self.octets.truncate(end);
        self.reserve(bytes.len(), is_tight);
        self.octets.extend_from_slice(bytes);
        self.octets.capacity() - before
    }

    fn reserve(&mut self, octets: usize, is_tight: bool) {
        let needed = self.octets.len() + octets;
        if needed > self.octets.capacity() {
            let foreseen = if is_tight || octets < LARGE_FRAME { 0 } else { octets * 8 };
            let wanted = needed.max(foreseen.min(FORESIGHT_MAX)).max(OCTETS_MIN);
            self.octets.reserve_exact(wanted.next_power_of_two() - self.octets.len());
        }
    }

    /// What can be read at once; nothing once all was read.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.octets[self.now.start as usize..self.now.end as usize]
    }

    /// So much of that was read.
    #[inline]
    pub(crate) fn consume(&mut self, octets: usize) {
        self.now.start += octets as u32;
        debug_assert!(self.now.start <= self.now.end);
        if self.now.is_empty() && self.read < self.more.len() {
            self.now = self.more[self.read].clone();
            self.read += 1;
        }
    }

    /// Takes what can be read at once.
    #[inline]
    pub(crate) fn next(&mut self) -> &[u8] {
        let part = self.now.clone();
        self.consume(part.len());
        &self.octets[part.start as usize..part.end as usize]
    }

    /// Forgets what it holds, and keeps the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.now = 0..0;
        self.more.clear();
        (self.read, self.len) = (0, 0);
    }

    /// Has `write` make other content of it in the same memory, and says what that answers.
    pub(crate) fn rewrite<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.clear();
        let answer = write(&mut self.octets);
        self.len = self.octets.len() as u32;
        self.now = 0..self.len;
        answer
    }

    /// All of it, which was not read, in one piece; and the list of its parts, which is empty.
    pub(crate) fn into_whole(mut self) -> (Vec<u8>, Vec<Range<u32>>) {
        let mut end = 0;
        for part in std::iter::once(self.now).chain(self.more.drain(..)) {
            self.octets.copy_within(part.start as usize..part.end as usize, end);
            end += part.len();
        }
        self.octets.truncate(end);
        (self.octets, self.more)
    }

    /// The memory alone, whatever it holds, and the list of its parts, which is empty.
    pub(crate) fn into_memory(mut self) -> (Vec<u8>, Vec<Range<u32>>) {
        self.more.clear();
        (self.octets, self.more)
    }

    /// Uses this list for its parts, where it has none yet.
    pub(crate) fn keep_list(&mut self, list: Vec<Range<u32>>) {
        if self.more.capacity() == 0 {
            self.more = list;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_parts() -> Content {
        Content::in_parts(b"..ab.cde..f".to_vec(), 2..4, vec![5..8, 10..11])
    }

    fn read(mut content: Content) -> Vec<u8> {
        let mut all = Vec::new();
        while !content.unread().is_empty() {
            all.extend_from_slice(content.next());
        }
        all
    }

    #[test]
    fn parts_are_read_in_their_order() {
        assert_eq!((in_parts().len(), read(in_parts())), (6, b"abcdef".to_vec()));
        let mut content = in_parts();
        for expected in [&b"ab"[..], b"b", b"cde", b"de", b"e", b"f", b""] {
            assert_eq!(content.unread(), expected);
            content.consume(expected.len().min(1));
        }
        assert_eq!((content.len(), content.is_empty()), (6, false));
    }

    #[test]
    fn what_is_appended_follows_the_last_part() {
        let mut content = in_parts();
        assert!(content.append(b"gh", false) > 0);
        assert_eq!(read(content), b"abcdefgh");
        let mut content = Content::in_parts(b"..ab......".to_vec(), 2..4, Vec::new());
        assert_eq!(content.append(b"cd", false), 0);
        assert_eq!((content.len(), content.initialised(), read(content)), (4, 10, b"abcd".to_vec()));
    }

    #[test]
    fn memory_is_used_again_as_it_is() {
        let mut content = in_parts();
        content.clear();
        assert_eq!((content.is_empty(), content.initialised(), content.unread()), (true, 11, &b""[..]));
        assert_eq!(content.append(b"xy", false), 0);
        assert_eq!(read(content), b"xy");
        assert_eq!(in_parts().into_memory().0.len(), 11);
    }

    #[test]
    fn it_can_be_had_in_one_piece() {
        assert_eq!(in_parts().into_whole(), (b"abcdef".to_vec(), Vec::new()));
        let mut content = Content::whole(b"whole".to_vec());
        content.rewrite(|octets| octets.push(b'.'));
        assert_eq!((content.len(), read(content)), (6, b"whole.".to_vec()));
        assert_eq!(Content::default().into_whole().0, b"");
    }

    #[test]
    fn room_is_foreseen_for_large_frames_unless_memory_is_tight() {
        for (octets, is_tight, expected) in
            [(10, false, 4096), (5000, false, 65_536), (5000, true, 8192), (100_000, false, 131_072)]
        {
            let mut content = Content::default();
            assert_eq!(content.append(&vec![1; octets], is_tight), expected);
        }
    }
}
