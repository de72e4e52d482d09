//! The value of `content-range` (RFC 9110 §14.4), without the heap.

use std::{io::Write as _, ops::Range};

/// The most bytes: three numbers of twenty digits, and the separators.
const BYTES_MAX: usize = "bytes -/".len() + 3 * 20;

/// The value of a `content-range` field: a part and the length of the whole, or the length alone. Allocates
/// nothing.
///
/// ```
/// use alula::conditional::ContentRange;
///
/// assert_eq!(ContentRange::of(0..500, 1_234).as_bytes(), b"bytes 0-499/1234");
/// assert_eq!(ContentRange::unsatisfied(1_234).as_bytes(), b"bytes */1234");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ContentRange {
    text: [u8; BYTES_MAX],
    length: usize,
}

impl ContentRange {
    /// Writes the place of a non-empty part in content of `length` bytes.
    pub fn of(part: Range<u64>, length: u64) -> Self {
        Self::written(format_args!("bytes {}-{}/{length}", part.start, part.end.saturating_sub(1)))
    }

    /// Writes the length of content that was not sent, for 416 (RFC 9110 §15.5.17).
    pub fn unsatisfied(length: u64) -> Self {
        Self::written(format_args!("bytes */{length}"))
    }

    /// Returns the value as ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    fn written(value: std::fmt::Arguments<'_>) -> Self {
        let mut text = [0; BYTES_MAX];
        let mut rest = &mut text[..];
        // The longest value has room.
        let _ = rest.write_fmt(value);
        let length = BYTES_MAX - rest.len();
        Self { text, length }
    }
}

impl AsRef<[u8]> for ContentRange {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_value_has_room() {
        let value = ContentRange::of(u64::MAX - 1..u64::MAX, u64::MAX);
        let expected = "bytes 18446744073709551614-18446744073709551614/18446744073709551615";
        assert_eq!(std::str::from_utf8(value.as_bytes()), Ok(expected));
    }
}
