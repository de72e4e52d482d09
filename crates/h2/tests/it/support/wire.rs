//! Frames and field blocks built by hand, and what a machine answers to them in words.

use alula_h2::{Config, Connection, ErrorCode};
use alula_hpack::{Encoder, EncoderConfig, Field, Policy};
use alula_machine::OutBuf;

use super::{End, frame, frames};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const PRIORITY_UPDATE: u8 = 16;

pub const END: u8 = 0x1;
pub const ACK: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;
pub const WITH_PRIORITY: u8 = 0x20;

pub const MAGIC: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A block of these fields, without the dynamic table, whatever they are.
pub fn block(pairs: &[(&str, &str)]) -> Vec<u8> {
    let config = EncoderConfig { policy: Policy::Static, ..EncoderConfig::default() };
    let mut out = OutBuf::new();
    let fields = pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()));
    Encoder::new(config).encode(fields, &mut out);
    out.unsent().to_vec()
}

/// The four pseudo-fields of a usual request and these fields.
pub fn request(method: &str, pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut all =
        vec![(":method", method), (":scheme", "https"), (":authority", "a.example"), (":path", "/")];
    all.extend_from_slice(pairs);
    block(&all)
}

pub fn get() -> Vec<u8> {
    request("GET", &[])
}

pub fn response(status: &str, pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut all = vec![(":status", status)];
    all.extend_from_slice(pairs);
    block(&all)
}

/// HEADERS that are whole.
pub fn headers(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags | END_HEADERS, stream, block)
}

pub fn data(flags: u8, stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, bytes)
}

pub fn u32_frame(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frame(kind, 0, stream, &value.to_be_bytes())
}

pub fn setting(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// PRIORITY_UPDATE for a stream.
pub fn priority_update(id: u32, value: &str) -> Vec<u8> {
    frame(PRIORITY_UPDATE, 0, 0, &[&id.to_be_bytes()[..], value.as_bytes()].concat())
}

/// A string that is no pseudo-field and no table entry's.
pub fn padded(flags: u8, stream: u32, kind: u8, pad_length: u8, payload: &[u8], padding: usize) -> Vec<u8> {
    frame(kind, flags | PADDED, stream, &[&[pad_length], payload, &vec![0; padding]].concat())
}

/// A server whose client has introduced itself; nothing is left to send.
pub fn server() -> End {
    server_with(Config::default())
}

pub fn server_with(config: Config) -> End {
    let mut server = End::new(Connection::server(config));
    server.receive(&[MAGIC, &frame(SETTINGS, 0, 0, &[]), &frame(SETTINGS, ACK, 0, &[])].concat());
    server.transmit();
    server.log.clear();
    server
}

/// A client whose server has introduced itself; nothing is left to send.
pub fn client() -> End {
    let mut client = super::client_end();
    client.receive(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat());
    client.transmit();
    client.log.clear();
    client
}

/// Says what the frames that go out tell the peer; acknowledgments of SETTINGS and credit are left out.
pub fn answers(bytes: &[u8]) -> Vec<String> {
    let word = |payload: &[u8], at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
    let tell = |(kind, flags, stream, payload): (u8, u8, u32, Vec<u8>)| match kind {
        RST_STREAM => Some(format!("RST_STREAM {stream} {}", ErrorCode(word(&payload, 0)))),
        GOAWAY => Some(format!("GOAWAY {} {}", word(&payload, 0), ErrorCode(word(&payload, 4)))),
        PING => Some(format!("PING {flags}")),
        HEADERS => Some(format!("HEADERS {stream}")),
        DATA => Some(format!("DATA {stream} {}", payload.len())),
        _ => None,
    };
    frames(bytes).into_iter().filter_map(tell).collect()
}
