//! The captures of a path: their places in it. A head keeps them with the path.

use core::ops::Range;

/// The most captures of a path. GitHub's REST API, which nests deeply, has 6; what is found is copied as a
/// whole, 72 bytes.
pub const CAPTURES_MAX: usize = 8;

/// The places of the captures of a path in it, in the order of the pattern; raw, not decoded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Captures {
    spans: [(u32, u32); CAPTURES_MAX],
    len: u32,
}

impl Captures {
    /// The empty set of captures.
    pub const NONE: Self = Self { spans: [(0, 0); CAPTURES_MAX], len: 0 };

    /// Adds a capture; too many are dropped, and patterns with too many are refused when they are built.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize) {
        if let Some(span) = self.spans.get_mut(self.len as usize) {
            // A path is shorter than 4 GiB, or it is not looked at.
            *span = (start as u32, end as u32);
            self.len += 1;
        }
    }

    /// Removes the captures after the first so many.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u32);
    }

    /// Returns the number of captures.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns true if there are no captures.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the place of a capture in the path.
    #[inline]
    pub fn span(&self, number: usize) -> Option<Range<usize>> {
        self.spans().nth(number)
    }

    /// Returns the places of all captures.
    #[inline]
    pub fn spans(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.spans.iter().take(self.len()).map(|&(start, end)| start as usize..end as usize)
    }
}
