//! Negotiation of media types and codings by Riak's rules: the greatest weight wins, and among equal ones the
//! last.
//!
//! Nothing is sorted or kept but the best entry so far, so that nothing is allocated.

use alula::{FieldSection, KnownName, Request, Status, fields::parameters};

use crate::http::answer::fail::Fail;

/// The name for content without a coding.
pub(in crate::http) const IDENTITY: &[u8] = b"identity";

/// The bytes of offers that may be compared for one request. Each entry of `accept` is held against each
/// offer, and each of its parameters against all of the offer: a megabyte of either would be compared for
/// hours.
const COMPARED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Returns the place of the offer that `accept` chooses, or `None` if it takes none, or none within
/// [`COMPARED_BYTES_MAX`]. Without the field the first one is taken.
fn media_type(headers: &FieldSection, offers: &[&[u8]]) -> Option<usize> {
    let mut best: Option<(u16, usize)> = None;
    let (mut is_present, mut left) = (false, COMPARED_BYTES_MAX);
    for entry in elements(headers, KnownName::ACCEPT) {
        is_present = true;
        let weight = parameters::weight(entry)?;
        let taken = offers.iter().position(|offer| takes(entry, offer, &mut left));
        if left == 0 {
            return None;
        }
        let Some(offer) = taken else { continue };
        if weight > 0 && best.is_none_or(|(other, _)| weight >= other) {
            best = Some((weight, offer));
        }
    }
    match is_present {
        true => best.map(|(_, offer)| offer),
        false => Some(0),
    }
}

/// Checks that a client takes the one media type of a resource, and content without a coding.
///
/// # Errors
/// 406.
pub(in crate::http) fn check(request: &Request, offer: &str) -> Result<(), Fail> {
    choose(request.headers(), &[offer.as_bytes()], IDENTITY).map(drop)
}

/// Returns the place of the offer that a client chooses, if it takes this coding.
///
/// # Errors
/// 406.
pub(in crate::http) fn choose(
    headers: &FieldSection,
    offers: &[&[u8]],
    coding: &[u8],
) -> Result<usize, Fail> {
    let is_taken = takes_charset(headers) && takes_coding(headers, coding);
    media_type(headers, offers).filter(|_| is_taken).ok_or(Fail::Page(Status::NOT_ACCEPTABLE))
}

/// Returns true if `accept-encoding` takes this coding, `identity` for none.
fn takes_coding(headers: &FieldSection, coding: &[u8]) -> bool {
    let (mut named, mut any, mut is_present) = (None, None, false);
    for entry in elements(headers, KnownName::ACCEPT_ENCODING) {
        let name = parameters::main(entry);
        let weight = parameters::weight(entry).unwrap_or(0);
        is_present = true;
        if name.eq_ignore_ascii_case(coding) {
            named = Some(weight);
        } else if name == b"*" {
            any = Some(weight);
        }
    }
    // A coding that is not named is excluded, but for no coding at all (RFC 9110 §12.5.3).
    named.or(any).map_or(!is_present || coding == IDENTITY, |weight| weight > 0)
}

/// Returns true if `accept-charset` is absent, or takes any charset.
fn takes_charset(headers: &FieldSection) -> bool {
    let mut weights = elements(headers, KnownName::ACCEPT_CHARSET).map(parameters::weight).peekable();
    weights.peek().is_none() || weights.any(|weight| weight.is_some_and(|weight| weight > 0))
}

fn elements(headers: &FieldSection, name: KnownName) -> impl Iterator<Item = &[u8]> {
    headers.get_all(name).flat_map(parameters::elements)
}

/// Returns true if an entry takes an offer: by its type, and by each parameter that it names. What is
/// compared is taken off `left`; none is taken after its end.
fn takes(entry: &[u8], offer: &[u8], left: &mut usize) -> bool {
    let mut compares = || {
        *left = left.saturating_sub(offer.len());
        *left > 0
    };
    if !compares() {
        return false;
    }
    let (range, offered) = (parameters::main(entry), parameters::main(offer));
    let by_type = || {
        let (range, offered) = (range.split(|it| *it == b'/').next(), offered.split(|it| *it == b'/').next());
        range.zip(offered).is_some_and(|(range, offered)| range.eq_ignore_ascii_case(offered))
    };
    let takes_type = range == b"*/*"
        || range == b"*"
        || range.eq_ignore_ascii_case(offered)
        || (range.ends_with(b"/*") && by_type());
    takes_type
        && parameters::of(entry)
            .filter(|parameter| !parameter.is("q"))
            .all(|wanted| compares() && parameters::of(offer).any(|parameter| parameter.is_same(&wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIBLINGS: [&[u8]; 2] = [b"text/plain", b"multipart/mixed"];

    fn chosen(accept: &str, offers: &[&[u8]]) -> Option<usize> {
        let headers = FieldSection::from_pairs([("accept", accept)]).expect("a valid field");
        media_type(&headers, offers)
    }

    #[test]
    fn siblings_are_negotiated_as_in_riak() {
        for (accept, offer) in [
            ("*/*", Some(0)),
            ("*", Some(0)),
            ("multipart/mixed", Some(1)),
            ("*/*, multipart/mixed", Some(1)),
            ("multipart/mixed, application/json, */*;q=0.5", Some(1)),
            ("text/plain, multipart/mixed", Some(1)),
            ("multipart/mixed, text/plain", Some(0)),
            ("multipart/*;q=0.9, text/plain;q=0.1", Some(1)),
            ("application/json", None),
            ("text/plain;q=much", None),
            ("text/plain;q=0", None),
            ("Text/Plain", Some(0)),
        ] {
            assert_eq!(chosen(accept, &SIBLINGS), offer, "{accept}");
        }
        assert_eq!(media_type(&FieldSection::new(), &SIBLINGS), Some(0));
    }

    #[test]
    fn parameters_of_an_entry_are_those_of_the_offer() {
        let offer: [&[u8]; 1] = [b"text/plain; charset=utf-8"];
        assert_eq!(chosen("text/plain", &offer), Some(0));
        assert_eq!(chosen("text/plain;charset=UTF-8", &offer), Some(0));
        assert_eq!(chosen("text/plain;charset=latin1", &offer), None);
        assert_eq!(chosen("text/plain;charset=\"utf-8\"", &offer), Some(0));
        assert_eq!(chosen("text/plain;x=\"a,b;q=0\"", &[b"text/plain;x=\"a,b;q=0\""]), Some(0));
        assert_eq!(chosen("text/html;x=\",text/plain\"", &offer), None);
    }

    #[test]
    fn the_bytes_that_are_compared_are_bounded() {
        let offer_of = |count: usize| format!("a/b{}", ";x".repeat(count));
        let entries = |count: usize| vec!["a/b;x"; count].join(",");
        let offer = offer_of(500);
        for (accept, is_taken) in [
            (offer_of(1_000), true),
            (entries(1_000), true),
            (offer_of(5_000), false),
            (entries(5_000), false),
            ("c/d,".repeat(5_000) + "a/b", false),
        ] {
            assert_eq!(chosen(&accept, &[offer.as_bytes()]).is_some(), is_taken, "{} bytes", accept.len());
        }
        assert_eq!(chosen(&entries(5_000), &[b"a/b;x"]), Some(0));
    }

    #[test]
    fn codings_are_taken_unless_they_are_excluded() {
        for (value, coding, takes) in [
            ("gzip", "identity", true),
            ("identity;q=0, *;q=0", "identity", false),
            ("*;q=0", "gzip", false),
            ("gzip, *;q=0", "gzip", true),
            ("gzip;q=0", "gzip", false),
            ("identity", "gzip", false),
            ("deflate, *;q=0.1", "gzip", true),
        ] {
            let headers = FieldSection::from_pairs([("accept-encoding", value)]).expect("a valid field");
            assert_eq!(takes_coding(&headers, coding.as_bytes()), takes, "{value}");
        }
        assert!(takes_coding(&FieldSection::new(), b"gzip"));
    }
}
