//! Lines in the usual form, which nearly all heads have: complete when they are first read, and ended by
//! CRLF.
//!
//! Rule: a line that is anything else is left to `field_line`, which alone says what is wrong with it.

use alula_fields::{Head, KnownName, bytes};

use super::{HeadIn, trimmed};
use crate::guard::violation::Violation;
use crate::head::known_head::{KnownHead, LineName};

/// The end of a line.
const CRLF: &[u8] = b"\r\n";

/// A line with a valid name and a valid value.
struct UsualLine<'i> {
    name: LineName,
    bytes: &'i [u8],
    value: &'i [u8],
    /// The bytes behind its end.
    rest: &'i [u8],
    /// The number of the line in the last head whose name is expected next.
    next: usize,
}

impl HeadIn {
    /// Reads the usual lines from this place on; returns their length.
    #[inline]
    pub(super) fn usual_lines(
        &mut self,
        input: &[u8],
        start: usize,
        head: &mut Head,
    ) -> Result<usize, Violation> {
        let left = self.rules.head_bytes - self.bytes;
        let input = &input[..input.len().min(start.saturating_add(left))];
        let mut rest = &input[start..];
        while let Some(line) = UsualLine::of(rest, &self.known, self.expected) {
            if let Some(began) = self.began {
                self.known.mark(input.len() - rest.len() - began.at, line.name, rest);
            }
            self.store_valid(line.name.known, line.bytes, line.value, head)?;
            rest = line.rest;
            self.expected = line.next;
        }
        let read = input.len() - start - rest.len();
        self.bytes += read;
        Ok(read)
    }
}

impl<'i> UsualLine<'i> {
    /// Reads the first line; its name is expected to be that of the line of this number in the last head.
    #[inline(always)]
    fn of(input: &'i [u8], last: &KnownHead, expected: usize) -> Option<Self> {
        let (name, next) = match last.find_name(expected, input) {
            Some(found) => found,
            None => (new_name(input)?, expected),
        };
        let (bytes, rest) = input.split_at_checked(name.len as usize)?;
        let value = rest.get(1..)?;
        let end = bytes::position_of_control_or_tab(value)?;
        let (value, rest) = value.split_at_checked(end)?;
        let rest = rest.strip_prefix(CRLF)?;
        Some(Self { name, bytes, value: trimmed(value), rest, next })
    }
}

/// Returns the name of a line that differs from the line at its place in the last head.
#[inline]
fn new_name(input: &[u8]) -> Option<LineName> {
    if *input.first()? <= b' ' {
        return None;
    }
    let name = &input[..bytes::position(input, b':')?];
    let known = KnownName::lookup_folded(name);
    let is_name = known.is_some() || bytes::is_token(name);
    is_name.then_some(LineName { len: name.len() as u32, known })
}
