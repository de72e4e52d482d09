//! The media types that a peer accepts (RFC 9110 §12.5.1), as far as errors depend on them.

use alula_fields::{FieldSection, KnownName, parameters};

/// Returns true if `accept` names JSON, or a media type based on it, with a weight above 0. A range such as
/// `*/*` names nothing: people who type an address get text.
pub(crate) fn takes_json(headers: &FieldSection) -> bool {
    let mut ranges = headers.get_all(KnownName::ACCEPT).flat_map(parameters::elements);
    ranges.any(|range| is_json(parameters::main(range)) && parameters::weight(range) != Some(0))
}

/// Returns true for `application/json`, and for a type of `application` with the suffix `+json` (RFC 6839
/// §3.1).
pub(crate) fn is_json(media_type: &[u8]) -> bool {
    let Some((kind, rest)) = media_type.split_at_checked(b"application/".len()) else { return false };
    let suffix = rest.len().checked_sub(b"+json".len()).and_then(|at| rest.get(at..));
    let is_json =
        rest.eq_ignore_ascii_case(b"json") || suffix.is_some_and(|it| it.eq_ignore_ascii_case(b"+json"));
    kind.eq_ignore_ascii_case(b"application/") && is_json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_where_it_is_named() {
        for (accept, takes) in [
            (&[][..], false),
            (&["application/json"], true),
            (&["Application/JSON; charset=utf-8"], true),
            (&["application/problem+json"], true),
            (&["text/html, application/json;q=0.1"], true),
            (&["text/html", "application/vnd.api+json"], true),
            (&["*/*"], false),
            (&["application/*"], false),
            (&["application/json;q=0"], false),
            (&["application/json ; Q=0.000"], false),
            (&["application/json;q=0, application/problem+json"], true),
            (&["text/json"], false),
            (&["application/jsonp"], false),
            (&["application/+json"], true),
            (&["text/plain; a=application/json"], false),
            (&["text/plain; a=\",application/json\""], false),
            (&["application/json; a=\";q=0;\""], true),
        ] {
            let headers = FieldSection::from_pairs(accept.iter().map(|value| ("accept", *value))).unwrap();
            assert_eq!(takes_json(&headers), takes, "{accept:?}");
        }
    }
}
