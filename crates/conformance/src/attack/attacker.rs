//! A client that speaks raw frames and reads, or does not read, what it gets.

use std::fmt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::frames::{self, Frame, PREFACE, flag, kind};

/// How long an answer may take after the attack was played.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the last PING of an attack carries.
const STILL_THERE: [u8; 8] = *b"are you?";

/// A hostile client with one connection.
pub struct Attacker {
    socket: TcpStream,
    got: Arc<Got>,
    next_stream: u32,
    gone: bool,
}

/// What an attacker gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The connection goes on: a PING is answered.
    Served,
    /// The connection goes on, and the first stream of the attack was reset with this code.
    Reset(u32),
    /// The connection goes on, and the first stream of the attack was answered with this status.
    Status(u16),
    /// GOAWAY with this code, and the end.
    GoAway(u32),
    /// The end of the connection without GOAWAY.
    Closed,
    /// Nothing at all, for as long as one waits.
    Silence,
}

impl Attacker {
    /// Connects and gets through the preface, with windows as the protocol has them at first.
    ///
    /// # Panics
    /// When the server does not accept.
    #[must_use]
    pub fn connect(port: u16) -> Self {
        let mut attacker = Self::silent(port);
        attacker.send(&[PREFACE, &frames::settings(&[])].concat());
        attacker.send(&frames::settings_ack());
        attacker
    }

    /// Connects and says nothing.
    ///
    /// # Panics
    /// As [`connect`](Self::connect).
    #[must_use]
    pub fn silent(port: u16) -> Self {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server accepts");
        socket.set_nodelay(true).expect("a socket takes its options");
        socket.set_write_timeout(Some(PATIENCE)).expect("a socket takes its options");
        let got = Arc::new(Got::default());
        thread::spawn({
            let (got, socket) = (Arc::clone(&got), socket.try_clone().expect("a descriptor can be had"));
            move || got.read(socket)
        });
        Self { socket, got, next_stream: 1, gone: false }
    }

    /// A stream that was not used yet.
    pub fn stream(&mut self) -> u32 {
        self.next_stream += 2;
        self.next_stream - 2
    }

    /// Sends octets; false once the connection is gone, as is the point of most attacks.
    pub fn send(&mut self, octets: &[u8]) -> bool {
        self.gone = self.gone || self.socket.write_all(octets).is_err();
        !self.gone
    }

    /// Sends what `make` makes, so often or until the connection is gone.
    pub fn flood(&mut self, times: usize, mut make: impl FnMut(&mut Self) -> Vec<u8>) {
        for _ in 0..times {
            let octets = make(self);
            if !self.send(&octets) || self.got.has_ended() {
                return;
            }
        }
    }

    /// Stops reading, so that what the server sends stays with it.
    pub fn stop_reading(&mut self) {
        self.got.stop();
    }

    /// Reads on.
    pub fn read_on(&mut self) {
        self.got.go_on();
    }

    /// What came of it. The attack is over: what was not read is read now.
    pub fn answer(&mut self) -> Answer {
        self.read_on();
        self.send(&frames::frame(kind::PING, flag::NONE, 0, &STILL_THERE));
        self.got.answer()
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        self.read_on();
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// What came so far; written by the reading thread.
#[derive(Default)]
struct Got {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_stopped: bool,
    first: Option<Answer>,
    goaway: Option<u32>,
    is_served: bool,
    has_ended: bool,
}

impl Got {
    fn read(&self, mut socket: TcpStream) {
        while let Ok(Some(frame)) = frames::read(&mut Patient { got: self, socket: &mut socket }) {
            self.take(&frame);
        }
        self.change(|state| state.has_ended = true);
    }

    fn take(&self, frame: &Frame) {
        self.change(|state| match frame.kind {
            kind::GOAWAY => {
                let code = frame.payload.get(4..8).and_then(|code| code.try_into().ok());
                state.goaway = state.goaway.or(code.map(u32::from_be_bytes));
            }
            kind::RST_STREAM => {
                let code = frame.payload.first_chunk().map(|code| u32::from_be_bytes(*code));
                state.first = state.first.or(code.map(Answer::Reset));
            }
            kind::HEADERS => state.first = state.first.or(status(&frame.payload).map(Answer::Status)),
            kind::PING => state.is_served |= frame.flags & flag::ACK != 0 && frame.payload == STILL_THERE,
            _ => {}
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("nobody panics here"));
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.change(|state| state.is_stopped = true);
    }

    fn go_on(&self) {
        self.change(|state| state.is_stopped = false);
    }

    fn has_ended(&self) -> bool {
        self.state.lock().expect("nobody panics here").has_ended
    }

    fn answer(&self) -> Answer {
        let state = self.state.lock().expect("nobody panics here");
        let is_open = |state: &mut State| !state.has_ended && !state.is_served;
        let (state, _) =
            self.changed.wait_timeout_while(state, PATIENCE, is_open).expect("nobody panics here");
        match (state.goaway, state.has_ended, state.is_served) {
            (Some(code), ..) => Answer::GoAway(code),
            (None, true, _) => Answer::Closed,
            (None, false, true) => state.first.unwrap_or(Answer::Served),
            (None, false, false) => Answer::Silence,
        }
    }
}

/// The socket, read only while nobody has said to stop.
struct Patient<'a> {
    got: &'a Got,
    socket: &'a mut TcpStream,
}

impl Read for Patient<'_> {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        let state = self.got.state.lock().expect("nobody panics here");
        drop(self.got.changed.wait_while(state, |state| state.is_stopped).expect("nobody panics here"));
        self.socket.read(space)
    }
}

/// The status of a field block as Alula's encoder writes it: first, by an index or as a literal with a name by index
/// (RFC 7541 Appendix A, 8 to 14) and three octets, which for the statuses of errors here are as short as their Huffman code.
fn status(block: &[u8]) -> Option<u16> {
    const BY_INDEX: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
    match *block {
        [index @ 0x88..=0x8e, ..] => Some(BY_INDEX[usize::from(index - 0x88)]),
        [0x08 | 0x48, 3, a, b, c, ..] => std::str::from_utf8(&[a, b, c]).ok()?.parse().ok(),
        _ => None,
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => f.write_str("served"),
            Self::Reset(code) => write!(f, "RST_STREAM {}", name(*code)),
            Self::Status(status) => write!(f, "{status}"),
            Self::GoAway(code) => write!(f, "GOAWAY {}", name(*code)),
            Self::Closed => f.write_str("closed"),
            Self::Silence => f.write_str("nothing"),
        }
    }
}

/// The name of an error code (RFC 9113 §7).
fn name(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES.get(code as usize).map_or_else(|| format!("code {code}"), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_from_blocks() {
        assert_eq!(status(&[0x88]), Some(200));
        assert_eq!(status(b"\x48\x03431"), Some(431));
        assert_eq!(status(b"\x48\x82xy"), None);
    }
}
