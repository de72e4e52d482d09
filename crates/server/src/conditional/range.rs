//! The parts of a representation that a request asks for (RFC 9110 §14).
//!
//! `Range` is a wish: whatever is not understood, or would cost more than the whole, is answered with the
//! whole. Only ranges that are well-formed and all lie behind its end are answered with 416.

use std::ops::Range;

/// The number of ranges above which a request gets the whole representation: readers of documents and media
/// ask for few, and many small ones cost far more than they bring (RFC 9110 §17.15).
pub const RANGES_MAX: usize = 32;

/// The parts to send.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Wanted {
    /// Everything.
    Whole,
    /// A single part.
    One(Range<u64>),
    /// Several parts, in the order in which they were asked for; none is empty.
    Many(Vec<Range<u64>>),
    /// No part exists (416).
    None,
}

/// A range in its syntax (RFC 9110 §14.1.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Spec {
    /// `first-last` or `first-`.
    From(u64, Option<u64>),
    /// `-length`: the end of the representation.
    Last(u64),
}

/// Returns the parts that a `range` field requests of a representation with so many bytes. Allocates for
/// several ranges only.
pub(super) fn wanted(field: &[u8], length: u64) -> Wanted {
    let Some(set) = byte_ranges(field) else { return Wanted::Whole };
    // An invalid `range` may be ignored (RFC 9110 §14.2): the whole is of more use than a refusal.
    if !is_valid(set) {
        return Wanted::Whole;
    }
    let mut parts = specs(set).flatten().filter_map(|spec| spec.part(length));
    let (Some(first), second) = (parts.next(), parts.next()) else { return Wanted::None };
    let Some(second) = second else { return one(first) };
    let parts: Vec<_> = [first, second].into_iter().chain(parts).collect();
    let bytes = parts.iter().map(|part| part.end - part.start).fold(0, u64::saturating_add);
    // Parts that overlap are either a mistake or an attack; then, and when all is asked for in pieces, the
    // whole is less.
    if bytes >= length { Wanted::Whole } else { Wanted::Many(parts) }
}

/// Returns the ranges of `bytes=…`; other units are not supported (RFC 9110 §14.1, §14.2).
fn byte_ranges(field: &[u8]) -> Option<&[u8]> {
    let equals = field.iter().position(|byte| *byte == b'=')?;
    let (unit, set) = field.split_at(equals);
    unit.eq_ignore_ascii_case(b"bytes").then(|| &set[1..])
}

/// Returns true if every range is valid, and there is at least one but not too many.
fn is_valid(set: &[u8]) -> bool {
    let mut count = 0;
    for spec in specs(set) {
        count += 1;
        if spec.is_none() || count > RANGES_MAX {
            return false;
        }
    }
    count > 0
}

/// Returns the elements of the list without empty ones (RFC 9110 §5.6.1.2); `None` stands for one that is not
/// well-formed.
fn specs(set: &[u8]) -> impl Iterator<Item = Option<Spec>> {
    let elements = set.split(|byte| *byte == b',').map(alula_fields::bytes::trim);
    elements.filter(|element| !element.is_empty()).map(Spec::parse)
}

/// Returns a single part; the whole content if it is empty, since `content-range` cannot name an empty part.
fn one(part: Range<u64>) -> Wanted {
    if part.is_empty() { Wanted::Whole } else { Wanted::One(part) }
}

impl Spec {
    /// Parses an `int-range` or `suffix-range` (RFC 9110 §14.1.2); a last position before the first is
    /// invalid.
    fn parse(text: &[u8]) -> Option<Self> {
        let dash = text.iter().position(|byte| *byte == b'-')?;
        match (&text[..dash], &text[dash + 1..]) {
            ([], length) => number(length).map(Self::Last),
            (first, []) => number(first).map(|first| Self::From(first, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// Returns the bytes of the range; `None` if it cannot be satisfied.
    fn part(self, length: u64) -> Option<Range<u64>> {
        match self {
            Self::From(first, last) => {
                let end = last.map_or(length, |last| last.saturating_add(1).min(length));
                (first < length).then_some(first..end)
            }
            // A suffix of no bytes is well-formed and not satisfiable (RFC 9110 §14.1.2).
            Self::Last(0) => None,
            Self::Last(bytes) => Some(length.saturating_sub(bytes)..length),
        }
    }
}

/// Parses any number of digits: a position past any representation is past the end of this one too.
fn number(digits: &[u8]) -> Option<u64> {
    let value = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    // A number of any length is valid: one over 64 bits lies behind the end of every content.
    let add = |sum: u64, digit| Some(sum.saturating_mul(10).saturating_add(digit?));
    if digits.is_empty() { None } else { digits.iter().map(value).try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field `range`, the length of the file, and the parts that are sent; the section is of RFC 9110.
    const ONE: [(&str, u64, Wanted, &str); 14] = [
        ("bytes=0-499", 10_000, Wanted::One(0..500), "§14.1.2, the first 500"),
        ("bytes=500-999", 10_000, Wanted::One(500..1_000), "§14.1.2, the second 500"),
        ("bytes=-500", 10_000, Wanted::One(9_500..10_000), "§14.1.2, the final 500"),
        ("bytes=9500-", 10_000, Wanted::One(9_500..10_000), "§14.1.2, the same"),
        ("bytes=0-0", 10_000, Wanted::One(0..1), "§14.1.2, positions are inclusive"),
        ("bytes=9999-", 10_000, Wanted::One(9_999..10_000), "§14.1.2, the last byte"),
        ("bytes=9000-20000", 10_000, Wanted::One(9_000..10_000), "§14.1.2, cut at the end"),
        ("bytes=-20000", 10_000, Wanted::One(0..10_000), "§14.1.2, a suffix longer than all"),
        ("BYTES=0-0", 10, Wanted::One(0..1), "§14.1, units are case-insensitive"),
        ("bytes= ,, 1-2 ,", 10, Wanted::One(1..3), "§5.6.1.2, empty elements"),
        ("bytes=0-18446744073709551616", 10, Wanted::One(0..10), "§14.1.2, a position past any number"),
        ("bytes=5-5,99-", 10, Wanted::One(5..6), "§15.3.7, what can be satisfied"),
        ("bytes=0-0,-0", 10, Wanted::One(0..1), "§14.1.2, a suffix of nothing"),
        ("bytes=000-001", 10, Wanted::One(0..2), "§14.1.2, 1*DIGIT"),
    ];

    const NOT_THERE: [(&str, u64, &str); 7] = [
        ("bytes=10-", 10, "§15.5.17, behind the end"),
        ("bytes=10-20", 10, "§15.5.17"),
        ("bytes=-0", 10, "§14.1.2, a suffix of nothing"),
        ("bytes=99-,100-200", 10, "§15.5.17, none of several"),
        ("bytes=0-", 0, "§14.1.2, an empty file has no first byte"),
        ("bytes=0-0", 0, "§14.1.2"),
        ("bytes=99999999999999999999-", 10, "§14.1.2, past any number"),
    ];

    /// Answered with the whole file, as if nothing had been asked (RFC 9110 §14.2).
    const IGNORED: [(&str, u64, &str); 24] = [
        ("bytes=5-4", 10, "§14.1.2, the last before the first is invalid"),
        ("bytes=0-1,5-4", 10, "§14.1.2, and makes the whole set invalid"),
        ("bytes=", 10, "§14.1.1, a set has one range at least"),
        ("bytes=,", 10, "§14.1.1"),
        ("bytes", 10, "§14.1.1"),
        ("", 10, "§14.1.1"),
        ("=0-1", 10, "§14.1.1"),
        ("bytes=-", 10, "§14.1.2"),
        ("bytes=--1", 10, "§14.1.2"),
        ("bytes=1", 10, "§14.1.2"),
        ("bytes=a-b", 10, "§14.1.2, other-range"),
        ("bytes=0-1x", 10, "§14.1.2"),
        ("bytes=+0-1", 10, "§14.1.2"),
        ("bytes=0 -1", 10, "§14.1.2, no white space within"),
        ("bytes =0-1", 10, "§14.1.1"),
        ("bytes=0-1;2-3", 10, "§14.1.1"),
        ("bytes=0x0-0x1", 10, "§14.1.2"),
        ("bytes=\u{661}-\u{662}", 10, "§14.1.2, other digits"),
        ("lines=0-1", 10, "§14.2, an unknown unit"),
        ("bytes=-5", 0, "§14.1.2, all of an empty file"),
        ("bytes=0-5,4-9", 10, "§17.15, overlapping"),
        ("bytes=0-4,5-9", 10, "§14.2, all of it in pieces"),
        ("bytes=0-,0-,0-", 10, "§17.15"),
        ("bytes=0-18446744073709551615,0-18446744073709551615", 10, "§17.15"),
    ];

    #[test]
    fn one_range() {
        for (field, length, expected, section) in ONE {
            assert_eq!(
                wanted(field.as_bytes(), length),
                expected,
                "{field} of {length} (RFC 9110 {section})"
            );
        }
    }

    #[test]
    fn ranges_that_are_not_there() {
        for (field, length, section) in NOT_THERE {
            assert_eq!(
                wanted(field.as_bytes(), length),
                Wanted::None,
                "{field} of {length} (RFC 9110 {section})"
            );
        }
    }

    #[test]
    fn what_is_not_valid_or_not_worth_it_is_ignored() {
        for (field, length, section) in IGNORED {
            assert_eq!(
                wanted(field.as_bytes(), length),
                Wanted::Whole,
                "{field} of {length} (RFC 9110 {section})"
            );
        }
    }

    #[test]
    fn several_ranges_keep_their_order() {
        for (field, expected) in [
            ("bytes=0-0,-1", vec![0..1, 99..100]),
            ("bytes=50-59, 10-19", vec![50..60, 10..20]),
            ("bytes=0-0,100-,1-1", vec![0..1, 1..2]),
        ] {
            assert_eq!(wanted(field.as_bytes(), 100), Wanted::Many(expected), "{field}");
        }
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let field = |count: usize| {
            let ranges: Vec<_> = (0..count).map(|at| format!("{}-{}", 2 * at, 2 * at)).collect();
            format!("bytes={}", ranges.join(","))
        };
        let Wanted::Many(parts) = wanted(field(RANGES_MAX).as_bytes(), 1_000) else { panic!("not several") };
        assert_eq!(parts.len(), RANGES_MAX);
        assert_eq!(wanted(field(RANGES_MAX + 1).as_bytes(), 1_000), Wanted::Whole);
    }

    #[test]
    fn any_bytes_have_an_answer() {
        let whole = b"bytes=0-4, 6-7,-2";
        for end in 0..whole.len() {
            for byte in 0..=255 {
                let mut field = whole[..end].to_vec();
                field.push(byte);
                field.extend_from_slice(&whole[end + 1..]);
                for length in [0, 1, 9, u64::MAX] {
                    match wanted(&field, length) {
                        Wanted::One(part) => assert!(part.start < part.end && part.end <= length),
                        Wanted::Many(parts) => {
                            assert!(parts.iter().all(|part| part.start < part.end && part.end <= length));
                        }
                        Wanted::Whole | Wanted::None => {}
                    }
                }
            }
        }
    }
}
