//! The media types that a peer takes (RFC 9110 §12.5.1), as far as refusals ask for them.

use alula_fields::{FieldSection, KnownName};

/// Returns true if `accept` names JSON, or a media type that is written in it, with a weight that is not 0. A
/// range such as `*/*` names nothing: people who type an address get text.
pub(crate) fn takes_json(headers: &FieldSection) -> bool {
    let values = headers.get_all(KnownName::ACCEPT);
    values.flat_map(|value| value.split(|byte| *byte == b',')).any(names_json)
}

/// Returns true if an element of the list names JSON with a weight above 0. A comma in a quoted parameter
/// cuts it, which leaves its media type whole.
fn names_json(element: &[u8]) -> bool {
    let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let is_json = parts.next().is_some_and(is_json);
    is_json && !parts.any(is_weight_of_nothing)
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

/// Returns true for a weight of 0: `q=0`, `q=0.` to `q=0.000` (RFC 9110 §12.4.2).
fn is_weight_of_nothing(parameter: &[u8]) -> bool {
    let [b'q' | b'Q', b'=', b'0', digits @ ..] = parameter else { return false };
    digits.is_empty() || digits.strip_prefix(b".").is_some_and(|it| it.iter().all(|digit| *digit == b'0'))
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
        ] {
            let headers = FieldSection::from_pairs(accept.iter().map(|value| ("accept", *value))).unwrap();
            assert_eq!(takes_json(&headers), takes, "{accept:?}");
        }
    }
}
