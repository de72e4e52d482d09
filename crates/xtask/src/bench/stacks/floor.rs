//! The bytes that the floor moves: as many as the requests and answers of a contest have once warm.

use super::{Asking, Load, Traffic, Version};

/// Of one request, and of its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bytes {
    pub(super) up: u64,
    pub(super) down: u64,
}

/// Header of a frame.
const HEADER: u64 = 9;
/// The longest payload of a frame without a setting.
const PAYLOAD_MAX: u64 = 16_384;

/// What clients send and get.
pub(super) fn of_client(asking: Asking) -> Bytes {
    let content = asking.content;
    match asking.version {
        // Fields as text, and as many digits as the length of the content takes.
        Version::Http1 => {
            let query = if asking.varies { 14 } else { 0 };
            Bytes { up: 420 + query, down: 314 + digits(content) + content }
        }
        // Some of the fields are not in the table of every client: what nghttp2 sends.
        Version::Http2 if asking.varies => Bytes { up: 93, down: 67 },
        Version::Http2 => Bytes { up: 62, down: 20 + content + HEADER * content.div_ceil(PAYLOAD_MAX) },
    }
}

/// The bytes of a request by h2load or the driver of `crates/bench`, whose tests hold them, and of the answer
/// of most servers.
pub(super) fn of_server(load: Load) -> Bytes {
    let up = match (load.version, load.traffic) {
        (Version::Http1, Traffic::Repeated) => 81,
        (Version::Http1, Traffic::Varied) => 127,
        (Version::Http1, Traffic::Proxied) => 619,
        // Once warm, four indexes and the path in Huffman code.
        (Version::Http2, Traffic::Repeated) => HEADER + 11,
        (Version::Http2, Traffic::Varied) => HEADER + 35,
        (Version::Http2, Traffic::Proxied) => HEADER + 184,
    };
    let down = if load.version == Version::Http1 { 115 } else { 39 };
    Bytes { up, down }
}

fn digits(number: u64) -> u64 {
    number.checked_ilog10().map_or(1, |tens| u64::from(tens) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(version: Version, content: u64) -> Bytes {
        of_client(Asking { version, in_flight: 1, content, varies: false, timed: 1, counted: 1 })
    }

    #[test]
    fn content_is_in_frames() {
        let down = [0, 1024, 102_400].map(|content| bytes(Version::Http2, content).down);
        assert_eq!(down, [20, 1053, 102_483]);
    }

    #[test]
    fn the_length_of_content_is_in_digits() {
        let down = [0, 1024, 102_400].map(|content| bytes(Version::Http1, content).down);
        assert_eq!(down, [315, 1342, 102_720]);
    }
}
