//! HTTP/2 frames as bytes (RFC 9113 §4.1, §6), written without any of the code under test.
//!
//! Field blocks use the static table and literals without indexing only (RFC 7541 §6.1, §6.2.2), so that they
//! mean the same at any time of a connection.

use std::io::{self, Read};

/// What a client says first (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Frame types (RFC 9113 §6).
pub mod kind {
    /// Content.
    pub const DATA: u8 = 0;
    /// A field block's beginning.
    pub const HEADERS: u8 = 1;
    /// An older order of streams, ignored.
    pub const PRIORITY: u8 = 2;
    /// The end of a stream, early.
    pub const RST_STREAM: u8 = 3;
    /// Parameters, and their acknowledgement.
    pub const SETTINGS: u8 = 4;
    /// A response nobody asked for.
    pub const PUSH_PROMISE: u8 = 5;
    /// A liveness check.
    pub const PING: u8 = 6;
    /// The end of a connection.
    pub const GOAWAY: u8 = 7;
    /// Credit.
    pub const WINDOW_UPDATE: u8 = 8;
    /// The rest of a field block.
    pub const CONTINUATION: u8 = 9;
    /// Another priority (RFC 9218 §7.1).
    pub const PRIORITY_UPDATE: u8 = 0x10;
}

/// Frame flags (RFC 9113 §6).
pub mod flag {
    /// Nothing set.
    pub const NONE: u8 = 0;
    /// Of SETTINGS and PING.
    pub const ACK: u8 = 0x1;
    /// Of DATA and HEADERS.
    pub const END_STREAM: u8 = 0x1;
    /// Of HEADERS and CONTINUATION.
    pub const END_HEADERS: u8 = 0x4;
    /// Of DATA and HEADERS: the payload begins with the length of the padding at its end.
    pub const PADDED: u8 = 0x8;
}

/// A frame, as read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// Its type.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// Its stream.
    pub stream: u32,
    /// What it carries.
    pub payload: Vec<u8>,
}

/// Any frame.
///
/// # Panics
/// When the payload does not fit the 24-bit length.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a payload of a test fits").to_be_bytes();
    assert_eq!(length[0], 0, "a payload of a test fits");
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// SETTINGS with these parameters (RFC 9113 §6.5.1).
#[must_use]
pub fn settings(parameters: &[(u16, u32)]) -> Vec<u8> {
    let encode =
        |&(id, value): &(u16, u32)| [id.to_be_bytes().to_vec(), value.to_be_bytes().to_vec()].concat();
    frame(kind::SETTINGS, flag::NONE, 0, &parameters.iter().flat_map(encode).collect::<Vec<u8>>())
}

/// The acknowledgement of SETTINGS.
#[must_use]
pub fn settings_ack() -> Vec<u8> {
    frame(kind::SETTINGS, flag::ACK, 0, &[])
}

/// HEADERS with a whole field block.
#[must_use]
pub fn headers(stream: u32, block: &[u8], end_stream: bool) -> Vec<u8> {
    let end = if end_stream { flag::END_STREAM } else { flag::NONE };
    frame(kind::HEADERS, flag::END_HEADERS | end, stream, block)
}

/// DATA without padding.
#[must_use]
pub fn data(stream: u32, content: &[u8], end_stream: bool) -> Vec<u8> {
    frame(kind::DATA, if end_stream { flag::END_STREAM } else { flag::NONE }, stream, content)
}

/// RST_STREAM with this error code (RFC 9113 §7).
#[must_use]
pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, flag::NONE, stream, &code.to_be_bytes())
}

/// GOAWAY with this last stream and error code.
#[must_use]
pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(kind::GOAWAY, flag::NONE, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// The field block of a request for `/` at `localhost`.
#[must_use]
pub fn request_block(method: &str) -> Vec<u8> {
    const SCHEME_HTTP: u8 = 0x86;
    const PATH_ROOT: u8 = 0x84;
    let pseudo = [literal(2, method), vec![SCHEME_HTTP, PATH_ROOT], literal(1, "localhost")];
    pseudo.concat()
}

/// The field block of a request for this path at `localhost`.
#[must_use]
pub fn path_block(method: &str, path: &str) -> Vec<u8> {
    [literal(2, method), vec![0x86], literal(4, path), literal(1, "localhost")].concat()
}

/// A field with any name, not entered into a table (RFC 7541 §6.2.2).
#[must_use]
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let string = |text: &str| [&length(text.len()), text.as_bytes()].concat();
    [vec![0], string(name), string(value)].concat()
}

/// The length of a string that is not in Huffman code, below 16,511 (RFC 7541 §5.1, §5.2).
fn length(bytes: usize) -> Vec<u8> {
    const PREFIX: usize = 0x7f;
    match bytes.checked_sub(PREFIX) {
        None => vec![bytes as u8],
        Some(rest @ 0..0x80) => vec![PREFIX as u8, rest as u8],
        Some(rest) => {
            assert!(rest < 0x4000, "a string of a test is no longer");
            vec![PREFIX as u8, 0x80 | (rest & 0x7f) as u8, (rest >> 7) as u8]
        }
    }
}

/// The field block of a request for a tunnel: a method, an authority and nothing else (RFC 9113 §8.5).
#[must_use]
pub fn connect_block() -> Vec<u8> {
    [literal(2, "CONNECT"), literal(1, "localhost:80")].concat()
}

/// The field block of a response with this status and nothing else.
#[must_use]
pub fn response_block(status: &str) -> Vec<u8> {
    literal(8, status)
}

/// A `content-length` field.
#[must_use]
pub fn content_length(bytes: usize) -> Vec<u8> {
    literal(28, &bytes.to_string())
}

/// A field whose name is in the static table at an index up to 15 + 127, never entered into a table.
fn literal(index: u8, value: &str) -> Vec<u8> {
    const PREFIX_MAX: u8 = 15;
    let name = if index < PREFIX_MAX { vec![index] } else { vec![PREFIX_MAX, index - PREFIX_MAX] };
    let length = u8::try_from(value.len()).expect("a value of a test is short");
    assert!(length < 127, "a value of a test is short");
    [name, vec![length], value.as_bytes().to_vec()].concat()
}

/// Reads one frame; `None` at a clean end between frames.
///
/// # Errors
/// When reading fails or ends within a frame.
pub fn read(from: &mut (impl Read + ?Sized)) -> io::Result<Option<Frame>> {
    let mut header = [0; 9];
    if from.read(&mut header[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut header[1..])?;
    let [a, b, c, kind, flags, stream @ ..] = header;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    from.read_exact(&mut payload)?;
    Ok(Some(Frame { kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff, payload }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bytes = [headers(1, &request_block("GET"), true), goaway(3, 11)].concat();
        let mut rest = &bytes[..];
        let first = read(&mut rest).expect("whole").expect("a frame");
        assert_eq!((first.kind, first.flags, first.stream), (kind::HEADERS, 5, 1));
        assert_eq!(first.payload, b"\x02\x03GET\x86\x84\x01\x09localhost");
        let second = read(&mut rest).expect("whole").expect("a frame");
        assert_eq!((second.kind, &*second.payload), (kind::GOAWAY, &[0, 0, 0, 3, 0, 0, 0, 11][..]));
        assert_eq!(read(&mut rest).expect("whole"), None);
    }

    #[test]
    fn names_past_the_prefix_take_two_bytes() {
        assert_eq!(content_length(100), b"\x0f\x0d\x03100");
    }
}
