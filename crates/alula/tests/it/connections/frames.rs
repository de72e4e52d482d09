//! A peer of HTTP/2 by hand: a few frames, since a server of ours cannot be made to misbehave.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const HEADERS: u8 = 1;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` in the static table (RFC 7541 §6.1).
const OK: u8 = 0x88;
/// The stream that is the connection.
pub(crate) const CONNECTION: [u8; 4] = [0; 4];

pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: [u8; 4],
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Returns true if it is the client's SETTINGS, or with `ACK` its acknowledgement of ours.
    pub(crate) fn is_settings(&self, flags: u8) -> bool {
        self.kind == SETTINGS && self.flags & ACK == flags
    }
}

/// A frame as it is on the wire.
pub(crate) fn frame(kind: u8, flags: u8, stream: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let [a, b, c, d] = stream;
    [&[0, 0, payload.len() as u8, kind, flags, a, b, c, d], payload].concat()
}

/// HEADERS with status 200 and END_STREAM.
pub(crate) fn ok(stream: [u8; 4]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &[OK])
}

/// Reads what comes before the client's first frame (RFC 9113 §3.4).
pub(crate) async fn read_magic(socket: &mut TcpStream) {
    socket.read_exact(&mut [0; 24]).await.unwrap();
}

/// The same, and answers with SETTINGS that say nothing, and their acknowledgement.
pub(crate) async fn begin(socket: &mut TcpStream) {
    read_magic(socket).await;
    let settings = [frame(SETTINGS, 0, CONNECTION, &[]), frame(SETTINGS, ACK, CONNECTION, &[])].concat();
    socket.write_all(&settings).await.unwrap();
}

pub(crate) async fn read(socket: &mut TcpStream) -> io::Result<Frame> {
    let mut header = [0; 9];
    socket.read_exact(&mut header).await?;
    let [high, middle, low, kind, flags, stream @ ..] = header;
    let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
    socket.read_exact(&mut payload).await?;
    Ok(Frame { kind, flags, stream, payload })
}

/// Reads up to the next request; gives its stream.
pub(crate) async fn read_request(socket: &mut TcpStream) -> io::Result<[u8; 4]> {
    loop {
        let frame = read(socket).await?;
        if frame.kind == HEADERS {
            return Ok(frame.stream);
        }
    }
}
