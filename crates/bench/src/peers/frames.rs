//! As much of HTTP/2's framing as a peer of a measurement needs: it may trust what it gets.

use std::io::{self, Read};

pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;

/// The flags END_STREAM and END_HEADERS; ACK has the value of the first.
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// The largest payload that needs no setting.
pub(crate) const PAYLOAD_MAX: usize = 16_384;

const HEADER: usize = 9;

/// One frame, borrowed from the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: &'a [u8],
}

impl Frame<'_> {
    pub(crate) fn ends_stream(&self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }

    /// The number that the payload of WINDOW_UPDATE is, and that SETTINGS are pairs with.
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().expect("four bytes"))
    }

    /// The value of a setting, if this is a frame of SETTINGS that has it.
    pub(crate) fn setting(&self, id: u16) -> Option<u32> {
        let starts = (0..self.payload.len()).step_by(6);
        let mut found = starts.filter(|at| self.payload[*at..at + 2] == id.to_be_bytes());
        found.next_back().map(|at| self.number(at + 2))
    }
}

/// Appends a frame.
pub(crate) fn push(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Input that is read as frames.
pub(crate) struct Input {
    bytes: Vec<u8>,
    filled: usize,
    at: usize,
}

impl Input {
    pub(crate) fn new() -> Self {
        Self::with_room(256 * 1024)
    }

    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], filled: 0, at: 0 }
    }

    /// The next frame that is there whole.
    pub(crate) fn frame(&mut self) -> Option<Frame<'_>> {
        let input = &self.bytes[self.at..self.filled];
        let (header, rest) = input.split_first_chunk::<HEADER>()?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let payload = rest.get(..length)?;
        self.at += HEADER + length;
        let stream = u32::from_be_bytes([header[5] & 0x7f, header[6], header[7], header[8]]);
        Some(Frame { kind: header[3], flags: header[4], stream, payload })
    }

    /// Waits for more; false at the end of the connection.
    pub(crate) fn read(&mut self, socket: &mut impl Read) -> io::Result<bool> {
        self.bytes.copy_within(self.at..self.filled, 0);
        (self.at, self.filled) = (0, self.filled - self.at);
        let read = socket.read(&mut self.bytes[self.filled..])?;
        self.filled += read;
        Ok(read > 0)
    }

    /// Passes over a client's preface.
    pub(crate) fn skip_preface(&mut self, socket: &mut impl Read) -> io::Result<()> {
        while self.filled < PREFACE.len() && self.read(socket)? {}
        assert!(self.bytes.starts_with(PREFACE), "the client starts with its preface");
        self.at = PREFACE.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut bytes = PREFACE.to_vec();
        push(&mut bytes, SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0, 9]);
        push(&mut bytes, DATA, END_STREAM, 7, b"content");
        let (mut input, mut socket) = (Input::new(), &bytes[..]);
        input.skip_preface(&mut socket).expect("it starts with a preface");
        let settings = input.frame().expect("a frame");
        assert_eq!(
            (settings.kind, settings.setting(4), settings.setting(3)),
            (SETTINGS, Some(65_536), Some(9))
        );
        assert_eq!((settings.setting(1), settings.ends_stream()), (None, false));
        let data = input.frame().expect("a frame");
        assert_eq!((data.stream, data.payload, data.ends_stream()), (7, &b"content"[..], true));
        assert!(input.frame().is_none());
    }
}
