//! The ends and pairs of this version, and small helpers for frames.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod wire;

pub use alula_driven::{fields, show_fields, show_head};
use alula_h2::{Config, Connection};

pub type End = alula_driven::End<Connection>;
pub type Pair = alula_driven::Pair<Connection>;

pub fn client_end() -> End {
    End::new(Connection::client(Config::default()))
}

pub fn server_end() -> End {
    End::new(Connection::server(Config::default()))
}

pub fn pair_with(client: Config, server: Config) -> Pair {
    Pair::of(Connection::client(client), Connection::server(server))
}

pub fn new_pair() -> Pair {
    pair_with(Config::default(), Config::default())
}

/// A pair whose settings are exchanged already.
pub fn ready_pair() -> Pair {
    let mut pair = new_pair();
    pair.settle();
    pair
}

/// A frame, built by hand.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// The frames in some bytes: kind, flags, stream, payload.
pub fn frames(mut bytes: &[u8]) -> Vec<(u8, u8, u32, Vec<u8>)> {
    const MAGIC: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    bytes = bytes.strip_prefix(MAGIC).unwrap_or(bytes);
    let mut frames = Vec::new();
    while let [a, b, c, kind, flags, e, f, g, h, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let stream = u32::from_be_bytes([*e, *f, *g, *h]);
        frames.push((*kind, *flags, stream, rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    assert!(bytes.is_empty(), "a frame is cut");
    frames
}
