//! Paths that the options of a router refuse.

use super::segments::{DotSegments, EmptySegments, EncodedSlash, Segments};

/// The rule that refuses a path. The answer is 400.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refused {
    /// A segment is empty, and [`EmptySegments::Refuse`] holds.
    EmptySegment,
    /// A segment has a `%2F`, and [`EncodedSlash::Refuse`] holds.
    EncodedSlash,
    /// A segment is `.` or `..`, and [`DotSegments::Refuse`] holds.
    DotSegment,
}

/// Returns the rule that refuses these bytes, which follow a slash of a path: one segment or several.
///
/// An encoded slash sets a dot segment off whatever the rule: it is a slash once decoded.
pub(super) fn refusal(bytes: &[u8], options: Segments) -> Option<Refused> {
    let (mut segment, mut piece, mut at) = (0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        let is_encoded = *byte == b'%' && is_encoded_slash(&bytes[at..]);
        if is_encoded && options.encoded_slash == EncodedSlash::Refuse {
            return Some(Refused::EncodedSlash);
        }
        if *byte == b'/' || is_encoded {
            let cuts = !is_encoded || options.encoded_slash == EncodedSlash::Separate;
            if cuts && segment == at && options.empty == EmptySegments::Refuse {
                return Some(Refused::EmptySegment);
            }
            if is_dots(&bytes[piece..at]) && options.dots == DotSegments::Refuse {
                return Some(Refused::DotSegment);
            }
            piece = at + if is_encoded { 3 } else { 1 };
            segment = if cuts { piece } else { segment };
            at = piece;
        } else {
            at += 1;
        }
    }
    (is_dots(&bytes[piece..]) && options.dots == DotSegments::Refuse).then_some(Refused::DotSegment)
}

fn is_encoded_slash(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', b'2', b'f' | b'F', ..])
}

/// Returns true for `.` and `..`, including dots as `%2e`.
fn is_dots(segment: &[u8]) -> bool {
    let first = dot(segment);
    first > 0 && first + dot(&segment[first..]) == segment.len()
}

/// Returns the length of the dot at the beginning; zero if there is none.
fn dot(bytes: &[u8]) -> usize {
    match bytes {
        [b'.', ..] => 1,
        [b'%', b'2', b'e' | b'E', ..] => 3,
        _ => 0,
    }
}
