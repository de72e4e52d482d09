//! The prefix of a nested router, and the paths below it.

use std::cmp::Reverse;

use alula_fields::Captures;

use super::cut::{Cut, Next};
use super::error::{Mistake, RouteError};
use super::pattern::{Part, Pattern};
use super::segments::Segments;

/// A prefix, such as `/users/{user}`; all paths are below the empty one.
///
/// It is looked at where no pattern matches, so a path is compared with one prefix after the other.
pub(crate) struct Prefix {
    parts: Vec<Part>,
    cut: Cut,
}

impl Prefix {
    /// Parses a prefix written under `options`, for paths that are split like those of a table.
    ///
    /// # Errors
    /// It is malformed, or `{*rest}` stands in it.
    pub(crate) fn of(text: &str, options: Segments, table: Segments) -> Result<Self, RouteError> {
        let parts = if text.is_empty() { Vec::new() } else { Pattern::parse(text, options)?.parts };
        match parts.last() {
            Some(Part::Rest(_)) => Err(RouteError::new(text, 0, Mistake::RestNotLast)),
            _ => Ok(Self { parts, cut: Cut::of(table) }),
        }
    }

    /// Returns the names of the captures, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(Part::name)
    }

    /// Returns true if the same paths are below both.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.kinds().eq(other.kinds())
    }

    /// Returns the sort key by which the more specific prefix comes first: the longer one, then the one with
    /// a literal in place of a capture.
    pub(crate) fn rank(&self) -> impl Ord + use<> {
        (Reverse(self.parts.len()), self.kinds().map(|literal| literal.is_none()).collect::<Vec<_>>())
    }

    /// Returns the captures of a path that equals this prefix or is below it. Allocates nothing.
    pub(crate) fn captures(&self, path: &[u8]) -> Option<Captures> {
        let (mut at, mut captures) = (0, Captures::default());
        if !self.parts.is_empty() && (path.first() != Some(&b'/') || u32::try_from(path.len()).is_err()) {
            return None;
        }
        for part in &self.parts {
            let Next::Segment(segment) = self.cut.next(path, at) else { return None };
            let found = &path[segment.start..segment.end];
            match part.literal_bytes() {
                Some(literal) if literal == found => {}
                None if !found.is_empty() => captures.push(segment.start, segment.end),
                _ => return None,
            }
            at = segment.end;
        }
        Some(captures)
    }

    /// Returns the literal of each segment; `None` for a capture.
    fn kinds(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.parts.iter().map(Part::literal_bytes)
    }
}
