//! Frames made of an input: their lengths are always right, whatever else is wrong with them.

use alula_hpack::{Encoder, EncoderConfig, Field, Policy};
use alula_machine::OutBuf;

use crate::input::Input;

/// What a client says first (RFC 9113 §3.4).
pub(crate) const MAGIC: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Appends a frame: kind, flags, stream and payload.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// What a peer says: its preface, if it is a good one, and then frames, or any bytes.
///
/// The first byte of the input chooses. Raw bytes keep lengths as they are, so that those are tried as
/// well.
pub(crate) fn conversation(input: &mut Input<'_>, from_client: bool) -> Vec<u8> {
    let (is_raw, has_preface) = (input.flag(), !input.flag());
    let mut bytes = Vec::new();
    if has_preface {
        bytes.extend_from_slice(if from_client { MAGIC } else { b"" });
        frame(4, 0, 0, &[], &mut bytes);
    }
    if is_raw {
        bytes.extend_from_slice(input.take(usize::MAX));
    }
    while !input.is_empty() {
        any_frame(input, from_client, &mut bytes);
    }
    bytes
}

/// Appends the frame that the input describes.
pub(crate) fn any_frame(input: &mut Input<'_>, from_client: bool, out: &mut Vec<u8>) {
    let (kind, flags) = (input.byte() % 12, input.byte());
    let stream = stream(input);
    match kind {
        // Nearly all blocks end, and nearly all frames have neither padding nor priority.
        1 | 9 => {
            let (flags, block) =
                (if flags & 0x80 == 0 { flags & 1 | 4 } else { flags }, block(input, from_client));
            frame(kind, flags, stream, &block, out);
        }
        0 => frame(0, flags, stream, &input.string().repeat(1 + usize::from(flags >> 4)), out),
        3 | 8 => frame(kind, flags, stream, &number(input).to_be_bytes(), out),
        4 => frame(4, flags & 1, if flags < 0xf0 { 0 } else { stream }, &settings(input, flags), out),
        6 => frame(6, flags, if flags < 0xf0 { 0 } else { stream }, &input.u64().to_be_bytes(), out),
        7 => {
            let said = [&stream.to_be_bytes(), &number(input).to_be_bytes(), input.string()].concat();
            frame(7, flags, 0, &said, out);
        }
        // A frame of an extension: PRIORITY_UPDATE (RFC 9218 §7.1), or one that is not known.
        10 => frame(if flags & 1 == 1 { 16 } else { 10 }, flags, 0, input.string(), out),
        11 => out.extend_from_slice(input.string()),
        _ => frame(kind, flags, stream, input.string(), out),
    }
}

/// A small one most of the time, so that frames meet on their streams.
fn stream(input: &mut Input<'_>) -> u32 {
    match input.byte() {
        255 => input.u32(),
        small => u32::from(small % 32),
    }
}

/// Zero, small, at the limits, or any.
fn number(input: &mut Input<'_>) -> u32 {
    match input.byte() {
        0xff => input.u32(),
        0xfe => 0x7fff_ffff,
        0xfd => 0x8000_0000,
        0xfc => 65_536,
        small => u32::from(small),
    }
}

fn settings(input: &mut Input<'_>, flags: u8) -> Vec<u8> {
    let mut payload = Vec::new();
    for _ in 0..flags >> 1 & 3 {
        payload.extend_from_slice(&u16::from(input.byte() % 10).to_be_bytes());
        payload.extend_from_slice(&number(input).to_be_bytes());
    }
    payload
}

/// A block that says something, or any bytes.
fn block(input: &mut Input<'_>, from_client: bool) -> Vec<u8> {
    let choice = usize::from(input.byte());
    let heads: &[&[(&str, &str)]] = if from_client { &REQUESTS } else { &RESPONSES };
    match heads.get(choice % (heads.len() + 1)) {
        Some(pairs) => coded(pairs),
        None => input.string().to_vec(),
    }
}

/// Without the dynamic table, so that a block means the same wherever it stands.
fn coded(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut out = OutBuf::new();
    let fields = pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()));
    Encoder::new(EncoderConfig { policy: Policy::Static, ..EncoderConfig::default() })
        .encode(fields, &mut out);
    out.unsent().to_vec()
}

const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")];
const POST: [(&str, &str); 5] = [(":method", "POST"), GET[1], GET[2], GET[3], ("content-length", "10")];

const REQUESTS: [&[(&str, &str)]; 8] = [
    &GET,
    &POST,
    &[(":method", "POST"), GET[1], GET[2], GET[3], ("cookie", "a=b"), ("cookie", "c=d"), ("te", "trailers")],
    &[(":method", "CONNECT"), (":authority", "a.example:443")],
    &[(":method", "CONNECT"), (":protocol", "websocket"), GET[1], GET[2], GET[3]],
    &[(":method", "HEAD"), GET[1], GET[2], ("connection", "close")],
    &[("x-trailer", "1")],
    &[GET[0], GET[1], (":path", "/a b"), ("X-Upper", "1")],
];

const RESPONSES: [&[(&str, &str)]; 8] = [
    &[(":status", "200")],
    &[(":status", "200"), ("content-length", "10")],
    &[(":status", "103"), ("link", "</a>")],
    &[(":status", "204"), ("x-own", "value")],
    &[(":status", "304"), ("content-length", "10")],
    &[("x-trailer", "1")],
    &[(":status", "101"), ("upgrade", "x")],
    &[(":status", "42"), ("x-own", "value"), (":status", "200")],
];

/// Takes output apart, which must be whole frames, and says how many.
pub(crate) fn count(mut bytes: &[u8]) -> usize {
    bytes = bytes.strip_prefix(MAGIC).unwrap_or(bytes);
    let mut frames = 0;
    while let [a, b, c, kind, _, stream @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        assert!(*kind < 10 && stream.len() >= 4 + length, "output ends inside a frame, or is none");
        assert!(stream[0] < 0x80, "the reserved bit is never set");
        bytes = &stream[4 + length..];
        frames += 1;
    }
    assert!(bytes.is_empty(), "a frame is cut");
    frames
}
