//! The request and response of the demo: a GET with 10 fields, and 200 with 10 fields and no content.

use alula::{FieldError, FieldSection};

/// The path of the request.
pub(super) const PATH: &str = "/static/app";

/// The prefix of paths that are answered once a given number of requests for them have come.
const AWAITING: &str = "/all-of/";

/// Returns the path of a request that is answered once so many of them have come.
pub(super) fn awaiting(all: usize) -> String {
    format!("{AWAITING}{all}")
}

/// Returns the number of requests that have to come before this path is answered; nothing if it is answered
/// at once.
pub(super) fn awaited(path: &str) -> Option<usize> {
    path.strip_prefix(AWAITING)?.parse().ok()
}

/// The fields of the request.
pub(super) const REQUEST: [(&str, &str); 10] = [
    ("user-agent", "alula-bench/1.0"),
    ("accept", "application/json, text/plain, */*"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-language", "en-US,en;q=0.5"),
    ("cache-control", "no-cache"),
    ("cookie", "session=7f3c9a1e5b2d4860a9c1; theme=dark"),
    ("referer", "http://example.com/products"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
    ("x-trace", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("x-client", "bench"),
];

/// The fields of the response beside `content-length`, which the server states itself.
const RESPONSE: [(&str, &str); 9] = [
    ("content-type", "application/json"),
    ("date", "Fri, 20 Nov 2026 12:00:00 GMT"),
    ("server", "fixed"),
    ("cache-control", "public, max-age=3600"),
    ("etag", "\"5f3c9a1e-400\""),
    ("last-modified", "Mon, 16 Nov 2026 08:30:00 GMT"),
    ("vary", "accept-encoding"),
    ("x-content-type-options", "nosniff"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

/// Returns the fields of the response, ready to be copied.
pub(super) fn response_fields() -> Result<FieldSection, FieldError> {
    let mut fields = FieldSection::new();
    fields.extend_pairs(RESPONSE)?;
    Ok(fields)
}

/// Returns the bytes of names and values of one request, control data included.
pub(super) fn request_bytes(scheme: &str, authority: &str) -> usize {
    let control = [(":method", "GET"), (":scheme", scheme), (":authority", authority), (":path", PATH)];
    bytes(&control) + bytes(&REQUEST)
}

/// Returns the bytes of names and values of one response, control data included.
pub(super) fn response_bytes() -> usize {
    bytes(&[(":status", "200"), ("content-length", "0")]) + bytes(&RESPONSE)
}

fn bytes(fields: &[(&str, &str)]) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_how_many_are_awaited() {
        assert_eq!(awaited(&awaiting(100)), Some(100));
        assert_eq!(awaited(PATH), None);
    }

    #[test]
    fn ten_fields_each_way_are_valid_and_counted() {
        let mut request = FieldSection::new();
        request.extend_pairs(REQUEST).unwrap();
        let response = response_fields().unwrap();
        assert_eq!((request.len(), response.len() + 1), (10, 10));
        let control =
            ":method".len() + "GET".len() + ":scheme".len() + "http".len() + ":path".len() + PATH.len();
        assert_eq!(request_bytes("http", "a:1"), request.bytes() + control + ":authority".len() + 3);
        assert_eq!(response_bytes(), response.bytes() + ":status200content-length0".len());
    }
}
