//! Received content: buffers, and the ranges of content in them.
//!
//! Rule: small content is copied to where it is wanted. Large content is not: its receiver gets the bytes as
//! they were read, with the frames or chunks around it, and the connection reads on into others.

use std::ops::Range;

/// The least capacity of a buffer; larger ones are powers of two, so that they soon fit whatever comes.
const BYTES_MIN: usize = 4 * 1024;
/// The size of a frame that is probably the first of several: its buffer gets room for eight.
const LARGE_FRAME: usize = 4 * 1024;
/// The most room that is reserved in this way.
const FORESIGHT_MAX: usize = 128 * 1024;

/// Content in parts, of which the first ones may have been read. Its size is one pointer, since it is moved
/// with every message; an empty one has no memory.
#[derive(Default)]
pub(crate) struct Content(Option<Box<Held>>);

#[derive(Default)]
struct Held {
    /// The initialised memory, which is kept so. Between the parts lie bytes that are not content.
    bytes: Vec<u8>,
    /// The range to read next.
    now: Range<u32>,
    /// The ranges that follow it, in order.
    more: Vec<Range<u32>>,
    /// The number of bytes that were read.
    read: usize,
    /// Bytes of content, read or not.
    len: u32,
}

impl Content {
    fn held(&mut self) -> &mut Held {
        self.0.get_or_insert_default()
    }

    /// Returns true if it holds nothing at all, not even a list for parts.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the bytes of content, whether or not they were read.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.0.as_ref().map_or(0, |held| held.len)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the capacity of its memory in bytes.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.0.as_ref().map_or(0, |held| held.bytes.capacity())
    }

    /// Returns how many bytes of its memory are initialised.
    pub(crate) fn initialised(&self) -> usize {
        self.0.as_ref().map_or(0, |held| held.bytes.len())
    }

    /// Appends bytes, with room for more of the same unless memory is tight; returns the growth of the
    /// capacity.
    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8], is_tight: bool) -> usize {
        self.held().append(bytes, is_tight)
    }

    /// Adds a part whose bytes come later; returns false if there are too many.
    pub(crate) fn note_part(&mut self, part: Range<u32>, parts_max: usize) -> bool {
        let more = &mut self.held().more;
        let has_room = more.len() < parts_max;
        if has_room {
            more.push(part);
        }
        has_room
    }

    /// Takes these bytes as its memory: this part of them, and the added ones.
    pub(crate) fn hold(&mut self, bytes: Vec<u8>, first: Range<u32>) {
        let held = self.held();
        let len = first.len() + held.more.iter().map(Range::len).sum::<usize>();
        (held.bytes, held.now, held.len) = (bytes, first, len as u32);
    }

    /// Returns the bytes that can be read at once; empty after everything was read.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |held| held.at(&held.now))
    }

    /// Takes so many bytes of the unread ones.
    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) -> &[u8] {
        self.0.as_mut().map_or(&[], |held| held.take(bytes))
    }

    /// Empties it, and keeps the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if let Some(held) = &mut self.0 {
            held.now = 0..0;
            held.more.clear();
            (held.read, held.len) = (0, 0);
        }
    }

    /// Takes its memory out.
    pub(crate) fn take_memory(&mut self) -> Vec<u8> {
        self.0.as_mut().map(|held| std::mem::take(&mut held.bytes)).unwrap_or_default()
    }

    /// Takes the complete unread content in one piece; only its length is still known.
    pub(crate) fn take_whole(&mut self) -> Vec<u8> {
        self.0.as_mut().map(|held| held.take_whole()).unwrap_or_default()
    }

    /// Returns the bytes of content that were not read.
    pub(crate) fn left(&self) -> usize {
        self.0.as_ref().map_or(0, |held| held.left())
    }

    /// Takes its memory and the place of the unread content, joined to one piece; only its length is still
    /// known.
    pub(crate) fn take_joined(&mut self) -> (Vec<u8>, Range<usize>) {
        self.0.as_mut().map(|held| held.take_joined()).unwrap_or_default()
    }

    /// Gives it memory, if it has none.
    pub(crate) fn put_memory(&mut self, memory: Vec<u8>) {
        if memory.capacity() > 0 {
            self.held().bytes = memory;
        }
    }
}

impl Held {
    #[inline]
    fn at(&self, part: &Range<u32>) -> &[u8] {
        &self.bytes[part.start as usize..part.end as usize]
    }

    #[inline]
    fn append(&mut self, bytes: &[u8], is_tight: bool) -> usize {
        let before = self.bytes.capacity();
        let last = self.more.last_mut().unwrap_or(&mut self.now);
        let end = last.end as usize;
        last.end += bytes.len() as u32;
        self.len += bytes.len() as u32;
        if let Some(room) = self.bytes.get_mut(end..end + bytes.len()) {
            room.copy_from_slice(bytes);
            return 0;
        }
        self.bytes.truncate(end);
        self.reserve(bytes.len(), is_tight);
        self.bytes.extend_from_slice(bytes);
        self.bytes.capacity() - before
    }

    fn reserve(&mut self, bytes: usize, is_tight: bool) {
        let needed = self.bytes.len() + bytes;
        if needed > self.bytes.capacity() {
            let foreseen = if is_tight || bytes < LARGE_FRAME { 0 } else { bytes * 8 };
            let wanted = needed.max(foreseen.min(FORESIGHT_MAX)).max(BYTES_MIN);
            self.bytes.reserve_exact(wanted.next_power_of_two() - self.bytes.len());
        }
    }

    #[inline]
    fn take(&mut self, bytes: usize) -> &[u8] {
        let taken = self.now.start..self.now.start + bytes as u32;
        self.now.start = taken.end;
        debug_assert!(self.now.start <= self.now.end);
        if self.now.is_empty() && self.read < self.more.len() {
            self.now = self.more[self.read].clone();
            self.read += 1;
        }
        self.at(&taken)
    }

    fn left(&self) -> usize {
        self.now.len() + self.more[self.read..].iter().map(Range::len).sum::<usize>()
    }

    fn take_joined(&mut self) -> (Vec<u8>, Range<usize>) {
        let (start, mut end) = (self.now.start as usize, self.now.end as usize);
        for part in &self.more[self.read..] {
            self.bytes.copy_within(part.start as usize..part.end as usize, end);
            end += part.len();
        }
        self.more.clear();
        (self.now, self.read) = (0..0, 0);
        (std::mem::take(&mut self.bytes), start..end)
    }

    fn take_whole(&mut self) -> Vec<u8> {
        let mut end = 0;
        for part in std::iter::once(&self.now).chain(&self.more) {
            self.bytes.copy_within(part.start as usize..part.end as usize, end);
            end += part.len();
        }
        self.bytes.truncate(end);
        self.more.clear();
        self.now = 0..0;
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_parts() -> Content {
        let mut content = Content::default();
        assert!(content.note_part(5..8, 2) && content.note_part(10..11, 2) && !content.note_part(12..13, 2));
        content.hold(b"..ab.cde..f".to_vec(), 2..4);
        content
    }

    fn read(mut content: Content) -> Vec<u8> {
        let mut all = Vec::new();
        while !content.unread().is_empty() {
            all.extend_from_slice(content.take(content.unread().len()));
        }
        all
    }

    #[test]
    fn parts_are_read_in_their_order() {
        assert_eq!((in_parts().len(), read(in_parts())), (6, b"abcdef".to_vec()));
        let mut content = in_parts();
        for expected in [&b"ab"[..], b"b", b"cde", b"de", b"e", b"f"] {
            assert_eq!(content.unread(), expected);
            assert_eq!(content.take(1), &expected[..1]);
        }
        assert_eq!((content.unread(), content.len()), (&b""[..], 6));
    }

    #[test]
    fn what_is_appended_follows_the_last_part() {
        let mut content = in_parts();
        assert!(content.append(b"gh", false) > 0);
        assert_eq!(read(content), b"abcdefgh");
        let mut content = Content::default();
        content.hold(b"..ab......".to_vec(), 2..4);
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
        assert_eq!(in_parts().take_memory().len(), 11);
    }

    #[test]
    fn it_can_be_had_in_one_piece() {
        let mut content = in_parts();
        assert_eq!(content.take_whole(), b"abcdef");
        assert_eq!((content.len(), content.capacity(), content.unread()), (6, 0, &b""[..]));
        content.put_memory(vec![0; 9]);
        content.clear();
        assert_eq!((content.len(), content.initialised()), (0, 9));
    }

    #[test]
    fn what_was_not_read_is_joined_where_it_lies() {
        for (read, expected, start) in
            [(0, &b"abcdef"[..], 2), (1, b"bcdef", 3), (2, b"cdef", 5), (5, b"f", 10)]
        {
            let mut content = in_parts();
            (0..read).for_each(|_| drop(content.take(1).to_vec()));
            assert_eq!(content.left(), expected.len());
            let (memory, place) = content.take_joined();
            assert_eq!((&memory[place.clone()], place.start), (expected, start), "{read} read");
            assert_eq!((content.len(), content.left(), content.capacity()), (6, 0, 0));
            assert!(content.unread().is_empty());
        }
    }

    #[test]
    fn nothing_holds_nothing() {
        let mut content = Content::default();
        content.clear();
        content.put_memory(Vec::new());
        assert!(content.unread().is_empty() && content.take(0).is_empty() && content.take_whole().is_empty());
        assert_eq!((content.left(), content.take_joined()), (0, (Vec::new(), 0..0)));
        assert!(content.is_none());
    }

    #[test]
    fn room_is_foreseen_for_large_frames_unless_memory_is_tight() {
        for (bytes, is_tight, expected) in
            [(10, false, 4096), (5000, false, 65_536), (5000, true, 8192), (100_000, false, 131_072)]
        {
            let mut content = Content::default();
            assert_eq!(content.append(&vec![1; bytes], is_tight), expected);
        }
    }
}
