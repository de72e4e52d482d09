//! Frames on the wire (RFC 9113 §4.1, §6): the header of nine bytes, kinds, flags, and the encoding of small
//! ones.
//!
//! Rule 1: nothing here knows a stream or a state; what a header must look like is judged in
//! `connection::receive`.
//! Rule 2: a header is read and written in one place each, [`FrameHeader::parse`] and
//! [`FrameHeader::bytes`].

pub(crate) mod dictionary;
pub(crate) mod error_code;
pub(crate) mod hold;
pub(crate) mod phase;
pub(crate) mod priority;
pub(crate) mod priority_updates;
pub(crate) mod settings;

use core::fmt;

use crate::frame::error_code::ErrorCode;

/// The length of every frame header (RFC 9113 §4.1).
pub(crate) const HEADER_BYTES: usize = 9;
/// The first bytes that a client sends (RFC 9113 §3.4).
pub(crate) const MAGIC: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest value of a stream identifier, a window or an increment: 31 bits (RFC 9113 §4.1, §6.9.1).
pub(crate) const MAX_31: u32 = 0x7fff_ffff;

/// The type of a frame (RFC 9113 §6), as a number with names: unknown ones are ignored, not refused.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct FrameKind(pub u8);

impl FrameKind {
    /// Content of a message (RFC 9113 §6.1).
    pub const DATA: Self = Self(0x0);
    /// Opens a stream, or carries a field section (RFC 9113 §6.2).
    pub const HEADERS: Self = Self(0x1);
    /// Advice that RFC 9113 deprecates (RFC 9113 §6.3).
    pub const PRIORITY: Self = Self(0x2);
    /// Ends a stream at once (RFC 9113 §6.4).
    pub const RST_STREAM: Self = Self(0x3);
    /// Facts about the sender, or the acknowledgment of such (RFC 9113 §6.5).
    pub const SETTINGS: Self = Self(0x4);
    /// Announces a pushed response (RFC 9113 §6.6).
    pub const PUSH_PROMISE: Self = Self(0x5);
    /// Asks for an echo (RFC 9113 §6.7).
    pub const PING: Self = Self(0x6);
    /// Ends a connection (RFC 9113 §6.8).
    pub const GOAWAY: Self = Self(0x7);
    /// Lets the peer send more (RFC 9113 §6.9).
    pub const WINDOW_UPDATE: Self = Self(0x8);
    /// More of a field section (RFC 9113 §6.10).
    pub const CONTINUATION: Self = Self(0x9);
    /// The frame that states the priority of a response (RFC 9218 §7.1).
    pub const PRIORITY_UPDATE: Self = Self(0x10);

    /// The number of frame types that RFC 9113 defines; their numbers are below this.
    pub const KNOWN: usize = 10;

    /// Returns the name in RFC 9113 or RFC 9218, or `None` for a kind they do not define.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::PRIORITY_UPDATE => Some("PRIORITY_UPDATE"),
            Self(kind) if (kind as usize) < Self::KNOWN => Some(NAMES[kind as usize]),
            _ => None,
        }
    }
}

impl fmt::Display for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "UNKNOWN({:#04x})", self.0),
        }
    }
}

impl fmt::Debug for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The flags RFC 9113 gives a meaning to; which ones count depends on the kind.
pub(crate) mod flag {
    /// DATA, HEADERS: the last frame of this half of the stream.
    pub(crate) const END_STREAM: u8 = 0x1;
    /// SETTINGS, PING: an answer.
    pub(crate) const ACK: u8 = 0x1;
    /// HEADERS, CONTINUATION: the field section is whole.
    pub(crate) const END_HEADERS: u8 = 0x4;
    /// DATA, HEADERS: the payload starts with the length of the padding at its end.
    pub(crate) const PADDED: u8 = 0x8;
    /// HEADERS: five bytes of priority come before the field section.
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// A frame header (RFC 9113 §4.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FrameHeader {
    pub(crate) length: u32,
    pub(crate) kind: FrameKind,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
}

impl FrameHeader {
    /// Parses a header; the reserved bit is ignored, as required.
    #[inline]
    pub(crate) const fn parse(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, e, f, g, h] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]),
            kind: FrameKind(kind),
            flags,
            stream: u32::from_be_bytes([e, f, g, h]) & MAX_31,
        }
    }

    /// Returns the header in wire format.
    #[inline]
    pub(crate) const fn bytes(self) -> [u8; HEADER_BYTES] {
        debug_assert!(self.length < 1 << 24 && self.stream <= MAX_31);
        let [_, a, b, c] = self.length.to_be_bytes();
        let [e, f, g, h] = self.stream.to_be_bytes();
        [a, b, c, self.kind.0, self.flags, e, f, g, h]
    }

    /// Returns true if a flag is set; the caller has to know that the kind has it.
    #[inline]
    pub(crate) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Returns a complete RST_STREAM (RFC 9113 §6.4).
pub(crate) const fn rst_stream(stream: u32, code: ErrorCode) -> [u8; 13] {
    with_u32(FrameKind::RST_STREAM, stream, code.0)
}

/// Returns a complete WINDOW_UPDATE (RFC 9113 §6.9).
pub(crate) const fn window_update(stream: u32, increment: u32) -> [u8; 13] {
    debug_assert!(increment > 0 && increment <= MAX_31);
    with_u32(FrameKind::WINDOW_UPDATE, stream, increment)
}

/// Returns a complete PING (RFC 9113 §6.7).
pub(crate) fn ping(ack: bool, payload: [u8; 8]) -> [u8; 17] {
    let header =
        FrameHeader { length: 8, kind: FrameKind::PING, flags: if ack { flag::ACK } else { 0 }, stream: 0 };
    let mut frame = [0; 17];
    frame[..9].copy_from_slice(&header.bytes());
    frame[9..].copy_from_slice(&payload);
    frame
}

/// Returns a GOAWAY without its debug data, which has `debug_bytes` bytes and follows (RFC 9113 §6.8).
pub(crate) fn goaway(last: u32, code: ErrorCode, debug_bytes: u32) -> [u8; 17] {
    let header = FrameHeader { length: 8 + debug_bytes, kind: FrameKind::GOAWAY, flags: 0, stream: 0 };
    let mut frame = [0; 17];
    frame[..9].copy_from_slice(&header.bytes());
    frame[9..13].copy_from_slice(&last.to_be_bytes());
    frame[13..].copy_from_slice(&code.0.to_be_bytes());
    frame
}

/// The acknowledgment of SETTINGS (RFC 9113 §6.5.3).
pub(crate) const SETTINGS_ACK: [u8; 9] =
    FrameHeader { length: 0, kind: FrameKind::SETTINGS, flags: flag::ACK, stream: 0 }.bytes();

const fn with_u32(kind: FrameKind, stream: u32, value: u32) -> [u8; 13] {
    let [a, b, c, d, e, f, g, h, i] = FrameHeader { length: 4, kind, flags: 0, stream }.bytes();
    let [j, k, l, m] = value.to_be_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m]
}

static NAMES: [&str; FrameKind::KNOWN] = [
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_writing_and_reading() {
        for header in [
            FrameHeader { length: 0, kind: FrameKind::DATA, flags: 0, stream: 0 },
            FrameHeader { length: 0xff_ffff, kind: FrameKind(0xff), flags: 0xff, stream: MAX_31 },
            FrameHeader { length: 0x01_0203, kind: FrameKind::PING, flags: 1, stream: 0x0405_0607 },
        ] {
            assert_eq!(FrameHeader::parse(&header.bytes()), header);
        }
    }

    #[test]
    fn the_reserved_bit_is_ignored() {
        let bytes = [0, 0, 8, 6, 0, 0x80, 0, 0, 1];
        assert_eq!(FrameHeader::parse(&bytes).stream, 1);
    }

    #[test]
    fn small_frames_are_as_the_rfc_draws_them() {
        assert_eq!(rst_stream(3, ErrorCode::CANCEL), [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8]);
        assert_eq!(window_update(0, 258), [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(ping(true, *b"12345678")[..9], [0, 0, 8, 6, 1, 0, 0, 0, 0]);
        assert_eq!(goaway(5, ErrorCode::NO_ERROR, 2)[..9], [0, 0, 10, 7, 0, 0, 0, 0, 0]);
        assert_eq!(SETTINGS_ACK, [0, 0, 0, 4, 1, 0, 0, 0, 0]);
    }
}
