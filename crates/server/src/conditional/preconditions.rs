//! Evaluates the preconditions of a request (RFC 9110 §13.2), and whether its range is used.

use std::time::SystemTime;

use alula_fields::{FieldSection, KnownName};

use super::{
    entity_tag::{Tags, is_strong_match, is_weak_match},
    validators::{Validators, parse_date},
};

/// The outcome of the conditions of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The request is carried out as without conditions.
    Proceed,
    /// The client has the current representation: 304 (RFC 9110 §15.4.5). For GET and HEAD only.
    NotModified,
    /// The current state differs from the expected one: 412 (RFC 9110 §15.5.13).
    Failed,
}

/// Evaluates the conditions of a request, in the order of RFC 9110 §13.2.2, against the present state.
///
/// Call it where the request would succeed without conditions (RFC 9110 §13.2.1), and hold a lock on the
/// state from here until it is changed. Methods are compared in the case they have. CONNECT, OPTIONS and
/// TRACE have no conditions. A field that is not well-formed is as the RFC has it: no date counts as none, no
/// entity-tag as one that names nothing. Allocates nothing.
///
/// ```
/// use alula::{FieldSection, conditional::{Validators, Verdict, evaluate}};
///
/// let headers = FieldSection::from_pairs([("if-match", "\"v1\"")])?;
/// let now = Validators::present().etag("\"v2\"");
/// assert_eq!(evaluate("DELETE", &headers, &now), Verdict::Failed);
/// # Ok::<(), alula::FieldError>(())
/// ```
pub fn evaluate(method: &str, headers: &FieldSection, now: &Validators<'_>) -> Verdict {
    // These methods select no representation: conditions do not count with them (RFC 9110 §13.2.1).
    if matches!(method, "CONNECT" | "OPTIONS" | "TRACE") {
        return Verdict::Proceed;
    }
    let is_read = matches!(method, "GET" | "HEAD");
    if !is_as_meant(headers, now) {
        return Verdict::Failed;
    }
    match is_news(headers, now, is_read) {
        true => Verdict::Proceed,
        false if is_read => Verdict::NotModified,
        false => Verdict::Failed,
    }
}

/// Returns true if a field of this name is a condition or asks for a range.
pub(crate) fn is_condition(name: KnownName) -> bool {
    matches!(
        name,
        KnownName::IF_MATCH
            | KnownName::IF_MODIFIED_SINCE
            | KnownName::IF_NONE_MATCH
            | KnownName::IF_RANGE
            | KnownName::IF_UNMODIFIED_SINCE
            | KnownName::RANGE
    )
}

/// Steps 1 and 2: `if-match`, and only without it `if-unmodified-since`.
fn is_as_meant(headers: &FieldSection, now: &Validators<'_>) -> bool {
    // `if-unmodified-since` does not count beside `if-match` (RFC 9110 §13.1.4).
    if headers.contains(KnownName::IF_MATCH) {
        return is_named(headers, KnownName::IF_MATCH, now, is_strong_match);
    }
    match (date(headers, KnownName::IF_UNMODIFIED_SINCE), now.modified) {
        (Some(since), Some(modified)) => modified <= since,
        _ => true,
    }
}

/// Steps 3 and 4: `if-none-match`, and only without it, for GET and HEAD, `if-modified-since`.
fn is_news(headers: &FieldSection, now: &Validators<'_>, is_read: bool) -> bool {
    // `if-modified-since` does not count beside `if-none-match` (RFC 9110 §13.1.3).
    if headers.contains(KnownName::IF_NONE_MATCH) {
        return !is_named(headers, KnownName::IF_NONE_MATCH, now, is_weak_match);
    }
    match (date(headers, KnownName::IF_MODIFIED_SINCE), now.modified) {
        // The date counts with GET and HEAD alone (RFC 9110 §13.1.3).
        (Some(since), Some(modified)) if is_read => modified > since,
        _ => true,
    }
}

/// Returns the value of `range`, if it is used (step 5 of RFC 9110 §13.2.2). Several fields of this name
/// count as none.
pub(super) fn due_range<'f>(headers: &'f FieldSection, now: &Validators<'_>) -> Option<&'f [u8]> {
    let mut given = headers.get_all(KnownName::RANGE);
    let (range, None) = (given.next()?, given.next()) else { return None };
    is_range_due(headers, now).then_some(range)
}

/// Returns true if `if-range` is absent, or strongly matches the current state (RFC 9110 §13.1.5).
fn is_range_due(headers: &FieldSection, now: &Validators<'_>) -> bool {
    let mut given = headers.get_all(KnownName::IF_RANGE);
    // If there are several fields, none names the one state that the range is meant for: the whole is sent.
    let (Some(value), None) = (given.next(), given.next()) else {
        return !headers.contains(KnownName::IF_RANGE);
    };
    if value.starts_with(b"\"") || value.starts_with(b"W/") {
        let tag = Tags(value).next().filter(|tag| tag.len() == value.len());
        return tag.zip(now.etag).is_some_and(|(tag, etag)| is_strong_match(tag, etag));
    }
    now.is_date_strong && parse_date(value).is_some_and(|date| now.modified == Some(date))
}

/// Returns true if the field names this entity-tag, or is `*`, which matches any existing state (RFC 9110
/// §13.1.1, §13.1.2).
fn is_named(
    headers: &FieldSection,
    name: KnownName,
    now: &Validators<'_>,
    is_match: fn(&[u8], &[u8]) -> bool,
) -> bool {
    headers.get_all(name).any(|value| {
        let is_listed = |etag: &[u8]| Tags(value).any(|tag| is_match(tag, etag));
        (value == b"*" && now.exists) || now.etag.is_some_and(is_listed)
    })
}

/// Returns the one date of this name; several dates, or an invalid one, count as none (RFC 9110 §13.1.3,
/// §13.1.4).
fn date(headers: &FieldSection, name: KnownName) -> Option<SystemTime> {
    let mut given = headers.get_all(name);
    let (value, None) = (given.next()?, given.next()) else { return None };
    parse_date(value)
}
