//! The framing of content: where a message ends (RFC 9112 §6.3).

use alula_fields::Status;

use crate::guard::facts::Facts;

/// The way in which the end of content is found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    /// The message has no content.
    None,
    /// The bytes that are still to come; never zero.
    Length(u64),
    /// The content comes in chunks.
    Chunked,
    /// The content lasts as long as the connection.
    UntilClose,
    /// The bytes that follow are not HTTP.
    Tunnel,
}

impl Content {
    const fn of_length(bytes: u64) -> Self {
        if bytes == 0 { Self::None } else { Self::Length(bytes) }
    }

    /// Returns the framing of the content after the head of a request.
    pub(crate) fn of_request(facts: &Facts) -> Self {
        match facts.content_length {
            _ if facts.is_chunked => Self::Chunked,
            Some(bytes) => Self::of_length(bytes),
            None => Self::None,
        }
    }

    /// Returns the framing of the content after a final response, or 101, to a request that was `asked`.
    pub(crate) fn of_response(facts: &Facts, status: Status, asked: Asked) -> Self {
        match facts.content_length {
            _ if status == Status::SWITCHING_PROTOCOLS
                || (asked == Asked::Connect && status.is_success()) =>
            {
                Self::Tunnel
            }
            // Length and coding describe the content that GET would have had (RFC 9112 §6.3).
            _ if asked == Asked::Head || status.is_bodiless() => Self::None,
            _ if facts.is_chunked => Self::Chunked,
            Some(bytes) => Self::of_length(bytes),
            // A response without a stated end lasts until the close; a request without one has no content
            // (RFC 9112 §6.3).
            None => Self::UntilClose,
        }
    }
}

/// The properties of a request on which the framing of its response depends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Asked {
    /// The head of a representation (HEAD).
    Head,
    /// A tunnel (CONNECT).
    Connect,
    /// Any other method.
    #[default]
    Other,
}

impl Asked {
    #[inline]
    pub(crate) fn by(method: &str) -> Self {
        Self::by_bytes(method.as_bytes())
    }

    #[inline]
    pub(crate) fn by_bytes(method: &[u8]) -> Self {
        match method {
            b"HEAD" => Self::Head,
            b"CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_rfc_9112_6_3_in_their_order() {
        let length = Facts { content_length: Some(5), ..Facts::default() };
        let chunked = Facts { is_chunked: true, ..Facts::default() };
        let none = Facts::default();
        let response = |facts, code, asked| Content::of_response(&facts, Status::new(code).unwrap(), asked);
        let rows = [
            (response(length, 200, Asked::Head), Content::None),
            (response(length, 204, Asked::Other), Content::None),
            (response(length, 304, Asked::Other), Content::None),
            (response(length, 200, Asked::Connect), Content::Tunnel),
            (response(length, 407, Asked::Connect), Content::Length(5)),
            (response(none, 101, Asked::Other), Content::Tunnel),
            (response(chunked, 200, Asked::Other), Content::Chunked),
            (response(length, 200, Asked::Other), Content::Length(5)),
            (response(none, 200, Asked::Other), Content::UntilClose),
            (Content::of_request(&none), Content::None),
            (Content::of_request(&length), Content::Length(5)),
            (Content::of_request(&chunked), Content::Chunked),
            (Content::of_request(&Facts { content_length: Some(0), ..none }), Content::None),
        ];
        for (at, (is, should)) in rows.into_iter().enumerate() {
            assert_eq!(is, should, "row {at}");
        }
    }
}
