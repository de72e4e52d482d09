//! Splitting a path into segments.

use super::segments::{EmptySegments, EncodedSlash, Segments};

/// The rules for separators of segments; the same for all routes of a table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cut {
    drops_empty: bool,
    at_encoded: bool,
    /// True if either of these is.
    is_special: bool,
}

/// The rest of a path after a segment.
pub(super) enum Next {
    /// The end of the path.
    End,
    /// A slash at the end, with the length of the path.
    Slash(usize),
    /// A slash and a segment.
    Segment(Segment),
}

/// A segment, with its first bytes as the key for lookups.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) key: u64,
}

impl Cut {
    pub(super) fn of(options: Segments) -> Self {
        let drops_empty = options.empty == EmptySegments::Drop;
        let at_encoded = options.encoded_slash == EncodedSlash::Separate;
        Self { drops_empty, at_encoded, is_special: drops_empty || at_encoded }
    }

    /// Returns what follows a segment that ends here.
    #[inline(always)]
    pub(super) fn next(&self, path: &[u8], at: usize) -> Next {
        if self.is_special {
            return self.next_by_rules(path, at);
        }
        if at >= path.len() {
            return Next::End;
        }
        let start = at + 1;
        if start == path.len() { Next::Slash(start) } else { Next::Segment(segment(path, start)) }
    }

    #[inline(never)]
    fn next_by_rules(&self, path: &[u8], at: usize) -> Next {
        if at >= path.len() {
            return Next::End;
        }
        let mut start = at + self.separator(&path[at..]).max(1);
        while self.drops_empty && start < path.len() {
            match self.separator(&path[start..]) {
                0 => break,
                bytes => start += bytes,
            }
        }
        if start == path.len() {
            return Next::Slash(start);
        }
        let end = (start..path.len()).find(|&at| self.separator(&path[at..]) > 0).unwrap_or(path.len());
        Next::Segment(Segment { start, end, key: key(&path[start..end]) })
    }

    /// Returns the length of the separator at the beginning; zero if there is none.
    pub(super) fn separator(&self, bytes: &[u8]) -> usize {
        match bytes {
            [b'/', ..] => 1,
            [b'%', b'2', b'f' | b'F', ..] if self.at_encoded => 3,
            _ => 0,
        }
    }

    /// Returns true if a rule may refuse a segment: it begins with a dot, or has an escape of a dot or a
    /// slash. Some of which none does are among them.
    #[inline]
    pub(super) fn is_doubtful(&self, path: &[u8], segment: Segment) -> bool {
        let Segment { start, end, key } = segment;
        self.is_special
            || begins_with_dot(key)
            || escapes(key) != 0
            || end - start > WORD && has_escapes(path, start + WORD, end)
    }

    /// Returns true if a rule may refuse the rest after the separator before `start`: it has an escape, or a
    /// segment that is empty or begins with a dot. It may also be true where no rule refuses any of these.
    #[inline]
    pub(super) fn is_rest_doubtful(&self, path: &[u8], start: usize) -> bool {
        self.is_special || is_rest_doubtful(path, start)
    }

    pub(super) const fn drops_empty(self) -> bool {
        self.drops_empty
    }
}

const WORD: usize = size_of::<u64>();
const ONES: u64 = u64::MAX / 255;

/// Returns the segment from here up to the next slash, or the end of the path.
#[inline]
fn segment(path: &[u8], start: usize) -> Segment {
    let (word, limit) = first_word(path, start);
    match slash(word) {
        Some(len) => Segment { start, end: start + len, key: word & !(u64::MAX << (8 * len)) },
        None if limit < WORD => Segment { start, end: start + limit, key: word },
        None => long_segment(path, start, word),
    }
}

/// Returns the next eight bytes, padded with zeros, and how many belong to the path.
#[inline]
fn first_word(path: &[u8], start: usize) -> (u64, usize) {
    if let Some(word) = word(path, start) {
        return (word, WORD);
    }
    let left = path.len() - start;
    let word = match path.last_chunk() {
        Some(last) => u64::from_le_bytes(*last) >> (8 * (WORD - left)),
        None => key(&path[start..]),
    };
    (word, left)
}

/// Returns the segment whose first eight bytes have no slash.
fn long_segment(path: &[u8], start: usize, key: u64) -> Segment {
    let mut end = start + WORD;
    while end < path.len() {
        let (word, limit) = first_word(path, end);
        match slash(word) {
            Some(len) => return Segment { start, end: end + len, key },
            None => end += limit,
        }
    }
    Segment { start, end, key }
}

/// Returns true if there may be an escape of a dot or a slash between these places, or right after them.
fn has_escapes(path: &[u8], start: usize, end: usize) -> bool {
    let mut at = start;
    while at < end {
        if escapes(first_word(path, at).0) != 0 {
            return true;
        }
        at += WORD;
    }
    false
}

#[inline]
fn word(path: &[u8], at: usize) -> Option<u64> {
    path.get(at..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Returns the number of bytes before the first slash of these eight.
#[inline]
const fn slash(word: u64) -> Option<usize> {
    let marks = marks(word, b'/');
    if marks == 0 { None } else { Some(marks.trailing_zeros() as usize / 8) }
}

/// Returns a mark for each of the eight bytes with this value. The lowest mark is exact; those above it need
/// not be.
#[inline]
const fn marks(word: u64, byte: u8) -> u64 {
    let zeros = word ^ (ONES * byte as u64);
    zeros.wrapping_sub(ONES) & !zeros & (ONES << 7)
}

/// Returns marks for possible escapes of a slash or a dot: `%2`, or `%` at the end of the word.
#[inline]
const fn escapes(word: u64) -> u64 {
    let percents = marks(word, b'%');
    if percents == 0 { 0 } else { percents << 8 & marks(word, b'2') | percents & 1 << 63 }
}

#[inline]
const fn begins_with_dot(key: u64) -> bool {
    key as u8 == b'.'
}

/// Does the same as [`Cut::is_rest_doubtful`], if only slashes separate segments.
fn is_rest_doubtful(path: &[u8], start: usize) -> bool {
    let is_word_doubtful = |word: u64| {
        let slashes = marks(word, b'/');
        escapes(word) | slashes << 8 & (slashes | marks(word, b'.')) != 0
    };
    // Words overlap by a byte, so that each slash is seen with what follows it.
    let mut at = start.saturating_sub(1);
    while let Some(word) = word(path, at) {
        if is_word_doubtful(word) {
            return true;
        }
        at += WORD - 1;
    }
    path.last_chunk().is_none_or(|last| is_word_doubtful(u64::from_le_bytes(*last)))
}

/// Returns the first eight bytes as a number, padded with zeros.
pub(super) fn key(segment: &[u8]) -> u64 {
    let first = segment.iter().take(WORD).rev();
    first.fold(0, |key, &byte| key << 8 | u64::from(byte))
}

/// The number of bytes of a segment that its key holds.
pub(super) const KEY_BYTES: usize = WORD;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_doubtful(path: &str, segment: Segment) -> bool {
        Cut::of(Segments::STRICT).is_doubtful(path.as_bytes(), segment)
    }

    #[test]
    fn segments_of_every_length_at_every_place() {
        for before in 0..20 {
            for len in 0..20 {
                for after in ["", "/", "/x", "/12345678", "/1/2/3/4/5/6/7/8/9"] {
                    let text: String = "abcdefghijklmnopqrst".chars().take(len).collect();
                    let path = format!("/{}/{text}{after}", "\u{80}z".repeat(before));
                    let start = 3 * before + 2;
                    if start == path.len() {
                        continue;
                    }
                    let found = segment(path.as_bytes(), start);
                    assert_eq!((found.start, found.end), (start, start + len), "{path:?}");
                    assert_eq!(found.key, key(text.as_bytes()), "{path:?}");
                    assert!(!is_doubtful(&path, found), "{path:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_rule_may_refuse_is_doubtful_at_every_place() {
        for before in 0..20 {
            for after in 0..20 {
                let [before, after] = [before, after].map(|len| "x".repeat(len));
                for (mark, is_segment_doubtful) in [("%2", true), ("/.", false), ("//", false)] {
                    let path = format!("/y/{before}{mark}{after}");
                    assert!(is_rest_doubtful(path.as_bytes(), 3), "{path}");
                    let found = segment(path.as_bytes(), 3);
                    assert_eq!(is_doubtful(&path, found), is_segment_doubtful, "{path}");
                }
                let path = format!("/y/.{before}/{after}");
                let found = segment(path.as_bytes(), 3);
                assert!(is_rest_doubtful(path.as_bytes(), 3) && is_doubtful(&path, found), "{path}");
                let path = format!("/yyyyyyyy/{before}.y/{after}");
                assert_eq!(is_rest_doubtful(path.as_bytes(), 10), before.is_empty(), "{path}");
            }
        }
    }
}
