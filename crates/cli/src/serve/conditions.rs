//! Whether a conditional request is to be carried out (RFC 9110 §13).

use std::time::SystemTime;

use alula::{FieldSection, KnownName};

/// What tells one state of a file from another (RFC 9110 §8.8).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validators<'a> {
    /// The entity-tag as it is sent, quotes and `W/` included.
    pub(super) etag: Option<&'a str>,
    /// The `last-modified` date, in whole seconds.
    pub(super) modified: Option<SystemTime>,
    /// The date tells every state from every other (RFC 9110 §8.8.2.2).
    pub(super) is_date_strong: bool,
}

/// What the conditions say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// Answer as if there were none.
    Proceed,
    /// 304: the client has it already.
    NotModified,
    /// 412: it is not what the client takes it for.
    Failed,
}

/// Evaluates the conditions of a GET or HEAD request in their order (RFC 9110 §13.2.2). Allocates nothing.
pub(super) fn evaluate(fields: &FieldSection, now: Validators<'_>) -> Verdict {
    if !matches(fields, now) {
        return Verdict::Failed;
    }
    if has_changed(fields, now) { Verdict::Proceed } else { Verdict::NotModified }
}

/// Steps 1 and 2: `If-Match`, and only without it `If-Unmodified-Since`.
fn matches(fields: &FieldSection, now: Validators<'_>) -> bool {
    if fields.contains(KnownName::IF_MATCH) {
        return names(fields, KnownName::IF_MATCH, now.etag, is_strong_match);
    }
    match (date(fields, KnownName::IF_UNMODIFIED_SINCE), now.modified) {
        (Some(since), Some(modified)) => modified <= since,
        _ => true,
    }
}

/// Steps 3 and 4: `If-None-Match`, and only without it `If-Modified-Since`.
fn has_changed(fields: &FieldSection, now: Validators<'_>) -> bool {
    if fields.contains(KnownName::IF_NONE_MATCH) {
        return !names(fields, KnownName::IF_NONE_MATCH, now.etag, is_weak_match);
    }
    match (date(fields, KnownName::IF_MODIFIED_SINCE), now.modified) {
        (Some(since), Some(modified)) => modified > since,
        _ => true,
    }
}

/// Step 5: what `Range` says, if it counts. Several of it are as none.
pub(super) fn due_range<'f>(fields: &'f FieldSection, now: Validators<'_>) -> Option<&'f [u8]> {
    let mut given = fields.get_all(KnownName::RANGE);
    let (range, None) = (given.next()?, given.next()) else { return None };
    is_range_due(fields, now).then_some(range)
}

/// `If-Range` is not there, or names the present state, strongly (RFC 9110 §13.1.5).
fn is_range_due(fields: &FieldSection, now: Validators<'_>) -> bool {
    let mut given = fields.get_all(KnownName::IF_RANGE);
    let (Some(value), None) = (given.next(), given.next()) else {
        return !fields.contains(KnownName::IF_RANGE);
    };
    if value.starts_with(b"\"") || value.starts_with(b"W/") {
        let tag = Tags(value).next().filter(|tag| tag.len() == value.len());
        return tag.zip(now.etag).is_some_and(|(tag, etag)| is_strong_match(tag, etag.as_bytes()));
    }
    now.is_date_strong && parse_date(value).is_some_and(|date| now.modified == Some(date))
}

/// Whether the field names this entity-tag, or is `*`, which any file is (RFC 9110 §13.1.1, §13.1.2).
fn names(
    fields: &FieldSection,
    name: KnownName,
    etag: Option<&str>,
    is_match: fn(&[u8], &[u8]) -> bool,
) -> bool {
    fields.get_all(name).any(|value| {
        let is_named = |etag: &str| Tags(value).any(|tag| is_match(tag, etag.as_bytes()));
        value == b"*" || etag.is_some_and(is_named)
    })
}

/// Both strong, and the same (RFC 9110 §8.8.3.2).
fn is_strong_match(one: &[u8], other: &[u8]) -> bool {
    one == other && !one.starts_with(b"W/")
}

/// The same but for weakness (RFC 9110 §8.8.3.2).
fn is_weak_match(one: &[u8], other: &[u8]) -> bool {
    one.strip_prefix(b"W/").unwrap_or(one) == other.strip_prefix(b"W/").unwrap_or(other)
}

/// The one date of this name; several, or what is no date, are as none (RFC 9110 §13.1.3, §13.1.4).
fn date(fields: &FieldSection, name: KnownName) -> Option<SystemTime> {
    let mut given = fields.get_all(name);
    let (value, None) = (given.next()?, given.next()) else { return None };
    parse_date(value)
}

/// A date in any of the three forms of RFC 9110 §5.6.7.
fn parse_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

/// The entity-tags of a list, up to the first thing that is none (RFC 9110 §8.8.3).
struct Tags<'a>(&'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|octet| !matches!(octet, b',' | b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let open = if rest.starts_with(b"W/") { 2 } else { 0 };
        let opaque = rest[open..].strip_prefix(b"\"")?;
        let length = opaque.iter().position(|octet| !is_etag_octet(*octet))?;
        if opaque[length] != b'"' {
            return None;
        }
        let (tag, rest) = rest.split_at(open + length + 2);
        self.0 = rest;
        Some(tag)
    }
}

/// `etagc`: what may stand between the quotes.
const fn is_etag_octet(octet: u8) -> bool {
    matches!(octet, 0x21 | 0x23..=0x7e | 0x80..=0xff)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    const STRONG: &str = "\"a\"";
    const WEAK: &str = "W/\"a\"";
    /// A second before, the very second, and a second after the file was changed.
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    const MATCH: &str = "if-match";
    const NONE_MATCH: &str = "if-none-match";
    const MODIFIED: &str = "if-modified-since";
    const UNMODIFIED: &str = "if-unmodified-since";

    use Verdict::{Failed, NotModified, Proceed};

    /// The etag of the file, the fields of the request, what is to be done; the section is of RFC 9110.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Verdict, &'a str);

    const ROWS: [Row<'_>; 50] = [
        (STRONG, &[], Proceed, "§13, no condition"),
        (STRONG, &[(MATCH, "\"a\"")], Proceed, "§13.1.1"),
        (STRONG, &[(MATCH, "\"b\"")], Failed, "§13.1.1"),
        (STRONG, &[(MATCH, "\"b\", \"a\"")], Proceed, "§13.1.1, one of a list"),
        (STRONG, &[(MATCH, "\"b\""), (MATCH, "\"a\"")], Proceed, "§5.3, lines of one list"),
        (STRONG, &[(MATCH, "*")], Proceed, "§13.1.1, any"),
        (STRONG, &[(MATCH, "W/\"a\"")], Failed, "§13.1.1, strong comparison"),
        (WEAK, &[(MATCH, "W/\"a\"")], Failed, "§8.8.3.2, two weak ones"),
        (WEAK, &[(MATCH, "\"a\"")], Failed, "§8.8.3.2"),
        (WEAK, &[(MATCH, "*")], Proceed, "§13.1.1"),
        (STRONG, &[(MATCH, "a")], Failed, "§8.8.3, no entity-tag"),
        (STRONG, &[(MATCH, "")], Failed, "§13.1.1, an empty list"),
        (STRONG, &[(MATCH, "\"a\"b")], Proceed, "§8.8.3, a tag before nonsense"),
        (STRONG, &[(UNMODIFIED, BEFORE)], Failed, "§13.1.4"),
        (STRONG, &[(UNMODIFIED, SAME)], Proceed, "§13.1.4"),
        (STRONG, &[(UNMODIFIED, AFTER)], Proceed, "§13.1.4"),
        (STRONG, &[(UNMODIFIED, "yesterday")], Proceed, "§13.1.4, no date"),
        (STRONG, &[(UNMODIFIED, BEFORE), (UNMODIFIED, BEFORE)], Proceed, "§13.1.4, more than one"),
        (STRONG, &[(MATCH, "\"a\""), (UNMODIFIED, BEFORE)], Proceed, "§13.1.4, If-Match goes first"),
        (STRONG, &[(MATCH, "\"b\""), (UNMODIFIED, AFTER)], Failed, "§13.2.2, step 1"),
        (STRONG, &[(NONE_MATCH, "\"a\"")], NotModified, "§13.1.2"),
        (STRONG, &[(NONE_MATCH, "\"b\"")], Proceed, "§13.1.2"),
        (STRONG, &[(NONE_MATCH, "\"b\",\t\"a\"")], NotModified, "§13.1.2, one of a list"),
        (STRONG, &[(NONE_MATCH, "\"b\""), (NONE_MATCH, "\"a\"")], NotModified, "§5.3"),
        (STRONG, &[(NONE_MATCH, "W/\"a\"")], NotModified, "§13.1.2, weak comparison"),
        (WEAK, &[(NONE_MATCH, "W/\"a\"")], NotModified, "§13.1.2"),
        (WEAK, &[(NONE_MATCH, "\"a\"")], NotModified, "§13.1.2"),
        (WEAK, &[(NONE_MATCH, "\"W/\"")], Proceed, "§8.8.3"),
        (STRONG, &[(NONE_MATCH, "*")], NotModified, "§13.1.2, any"),
        (STRONG, &[(NONE_MATCH, "\"*\"")], Proceed, "§13.1.2, a tag that is a star"),
        (STRONG, &[(NONE_MATCH, "w/\"a\"")], Proceed, "§8.8.3, W is case-sensitive"),
        (STRONG, &[(NONE_MATCH, "W/ \"a\"")], Proceed, "§8.8.3"),
        (STRONG, &[(NONE_MATCH, "\"a")], Proceed, "§8.8.3, no end"),
        (STRONG, &[(NONE_MATCH, "\"x,\"a\"")], Proceed, "§8.8.3, a comma within"),
        (STRONG, &[(NONE_MATCH, "\"x,y\", \"a\"")], NotModified, "§8.8.3, a comma within"),
        (STRONG, &[(NONE_MATCH, "\"x y\", \"a\"")], Proceed, "§8.8.3, no white space within"),
        (STRONG, &[(NONE_MATCH, "\"\\\", \"a\"")], NotModified, "§8.8.3, a backslash is itself"),
        (STRONG, &[(MODIFIED, BEFORE)], Proceed, "§13.1.3"),
        (STRONG, &[(MODIFIED, SAME)], NotModified, "§13.1.3"),
        (STRONG, &[(MODIFIED, AFTER)], NotModified, "§13.1.3"),
        (STRONG, &[(MODIFIED, "Sunday, 06-Nov-94 08:49:37 GMT")], NotModified, "§5.6.7, RFC 850"),
        (STRONG, &[(MODIFIED, "Sun Nov  6 08:49:37 1994")], NotModified, "§5.6.7, asctime"),
        (STRONG, &[(MODIFIED, "784111777")], Proceed, "§13.1.3, no date"),
        (STRONG, &[(MODIFIED, AFTER), (MODIFIED, AFTER)], Proceed, "§13.1.3, more than one"),
        (STRONG, &[(NONE_MATCH, "\"b\""), (MODIFIED, AFTER)], Proceed, "§13.1.3, If-None-Match goes first"),
        (STRONG, &[(NONE_MATCH, "\"a\""), (MODIFIED, BEFORE)], NotModified, "§13.1.3"),
        (STRONG, &[(MATCH, "\"b\""), (NONE_MATCH, "\"a\"")], Failed, "§13.2.2, step 1 before 3"),
        (STRONG, &[(MATCH, "\"a\""), (NONE_MATCH, "\"a\"")], NotModified, "§13.2.2, step 1, then 3"),
        (STRONG, &[(UNMODIFIED, BEFORE), (NONE_MATCH, "\"a\"")], Failed, "§13.2.2, step 2 before 3"),
        (STRONG, &[(UNMODIFIED, AFTER), (MODIFIED, SAME)], NotModified, "§13.2.2, step 2, then 4"),
    ];

    fn modified() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn file(etag: &str) -> Validators<'_> {
        Validators { etag: Some(etag), modified: Some(modified()), is_date_strong: true }
    }

    fn section(fields: &[(&str, &str)]) -> FieldSection {
        FieldSection::from_pairs(fields.iter().copied()).unwrap()
    }

    #[test]
    fn conditions_have_their_order() {
        for (etag, fields, expected, rule) in ROWS {
            let verdict = evaluate(&section(fields), file(etag));
            assert_eq!(verdict, expected, "{etag} and {fields:?} (RFC 9110 {rule})");
        }
    }

    #[test]
    fn what_has_no_validators_matches_any_state_only() {
        for (name, value, expected) in [
            (MATCH, "*", Proceed),
            (MATCH, "\"a\"", Failed),
            (NONE_MATCH, "*", NotModified),
            (NONE_MATCH, "\"a\"", Proceed),
            (MODIFIED, AFTER, Proceed),
            (UNMODIFIED, BEFORE, Proceed),
        ] {
            let verdict = evaluate(&section(&[(name, value)]), Validators::default());
            assert_eq!(verdict, expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_range_is_due_for_the_very_state_only() {
        for (etag, fields, is_due) in [
            (STRONG, &[][..], true),
            (STRONG, &["\"a\""], true),
            (STRONG, &["\"b\""], false),
            (STRONG, &["W/\"a\""], false),
            (STRONG, &["*"], false),
            (STRONG, &["\"a\", \"b\""], false),
            (STRONG, &["\"a\"", "\"a\""], false),
            (STRONG, &["a"], false),
            (STRONG, &[""], false),
            (WEAK, &["W/\"a\""], false),
            (WEAK, &["\"a\""], false),
            (STRONG, &[SAME], true),
            (STRONG, &[BEFORE], false),
            (STRONG, &[AFTER], false),
        ] {
            let fields = section(&fields.iter().map(|value| ("if-range", *value)).collect::<Vec<_>>());
            assert_eq!(is_range_due(&fields, file(etag)), is_due, "{etag} and {fields:?} (RFC 9110 §13.1.5)");
        }
        let weak_date = Validators { is_date_strong: false, ..file(STRONG) };
        assert!(!is_range_due(&section(&[("if-range", SAME)]), weak_date), "RFC 9110 §8.8.2.2");
    }

    #[test]
    fn several_range_fields_are_as_none() {
        let range = ("range", "bytes=0-0");
        assert_eq!(due_range(&section(&[range]), file(STRONG)), Some(&b"bytes=0-0"[..]));
        assert_eq!(due_range(&section(&[range, range]), file(STRONG)), None);
        assert_eq!(due_range(&section(&[range, ("if-range", "\"b\"")]), file(STRONG)), None);
    }

    #[test]
    fn any_octets_have_an_answer() {
        for octet in 0..=255u8 {
            for field in [vec![octet], vec![b'"', octet], vec![b'"', octet, b'"'], vec![b'W', b'/', octet]] {
                let tags: Vec<_> = Tags(&field).collect();
                assert!(tags.iter().all(|tag| tag.ends_with(b"\"") && tag.len() >= 2), "{field:?}: {tags:?}");
            }
        }
    }
}
