//! How many octets the floor moves: as many as the requests and answers of the contest have once warm.

use super::contest::Kind;

/// The header of a frame.
const HEADER: u64 = 9;
/// The longest payload of a frame without a setting.
const PAYLOAD_MAX: u64 = 16_384;

/// Of one request, and of its answer.
pub(super) fn octets(kind: Kind) -> (u64, u64) {
    match kind {
        // Some of the fields are not in the table of every client: what nghttp2 sends.
        Kind::Client { content, .. } => (62, 20 + content + HEADER * content.div_ceil(PAYLOAD_MAX)),
        // What h2load sends: a frame with four indexes and the path in Huffman code; what most servers answer.
        _ => (20, 39),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_in_frames() {
        let client = |content| octets(Kind::Client { timed: 1, counted: 1, content });
        assert_eq!([client(0), client(1024), client(102_400)], [(62, 20), (62, 1053), (62, 102_483)]);
    }
}
