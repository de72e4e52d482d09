//! How many octets the floor moves: as many as the requests and answers of the contest have once warm.

use super::contest::{Asking, Load, Version};

/// Of one request, and of its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Octets {
    pub(super) up: u64,
    pub(super) down: u64,
}

/// Header of a frame.
const HEADER: u64 = 9;
/// The longest payload of a frame without a setting.
const PAYLOAD_MAX: u64 = 16_384;

/// What clients send and get.
pub(super) fn of_client(asking: Asking) -> Octets {
    let content = asking.content;
    match asking.version {
        // Fields as text, and as many digits as the length of the content takes.
        Version::Http1 => Octets { up: 420, down: 314 + digits(content) + content },
        // Some of the fields are not in the table of every client: what nghttp2 sends.
        Version::Http2 => Octets { up: 62, down: 20 + content + HEADER * content.div_ceil(PAYLOAD_MAX) },
    }
}

/// What h2load sends, and most servers answer.
pub(super) fn of_server(load: Load) -> Octets {
    match load.version {
        Version::Http1 => Octets { up: 81, down: 115 },
        // A frame with four indexes and the path in Huffman code.
        Version::Http2 => Octets { up: 20, down: 39 },
    }
}

fn digits(number: u64) -> u64 {
    number.checked_ilog10().map_or(1, |tens| u64::from(tens) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(version: Version, content: u64) -> Octets {
        of_client(Asking { version, in_flight: 1, content, timed: 1, counted: 1 })
    }

    #[test]
    fn content_is_in_frames() {
        let down = [0, 1024, 102_400].map(|content| octets(Version::Http2, content).down);
        assert_eq!(down, [20, 1053, 102_483]);
    }

    #[test]
    fn the_length_of_content_is_in_digits() {
        let down = [0, 1024, 102_400].map(|content| octets(Version::Http1, content).down);
        assert_eq!(down, [315, 1342, 102_720]);
    }
}
