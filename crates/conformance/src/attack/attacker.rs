//! A client or server that speaks raw frames and reads, or does not read, what it gets.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use ::alula::h2::ErrorCode;

use super::Attacks;
use super::answer::Answer;
use super::received::{PATIENCE, PATIENCE_LOST, Patient, Received, State};
use crate::frames::{self, Frame, PREFACE, flag, kind};

/// What the last PING of an attack carries.
const STILL_THERE: [u8; 8] = *b"are you?";

/// A hostile client, or server, with one connection.
pub struct Attacker {
    socket: TcpStream,
    got: Arc<Received<Notes>>,
    next_stream: u32,
    gone: bool,
    /// Its other connections.
    others: Vec<Self>,
    patience: Duration,
}

impl Attacker {
    /// Connects and says nothing.
    ///
    /// # Panics
    /// When the server does not accept.
    #[must_use]
    pub fn silent(port: u16) -> Self {
        Self::over(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server accepts"))
    }

    /// Accepts a client, introduces itself as a server and waits for the first request, on stream 1.
    ///
    /// # Panics
    /// When no client comes, or its preface is none.
    #[must_use]
    pub fn accept(listener: TcpListener) -> Self {
        let (mut socket, _) = listener.accept().expect("a client comes");
        // One connection is all it gets.
        drop(listener);
        socket.read_exact(&mut [0; PREFACE.len()]).expect("a client has a preface");
        let mut attacker = Self::over(socket);
        attacker.send(&[frames::settings(&[]), frames::settings_ack()].concat());
        drop(attacker.got.wait_for(PATIENCE, |state| state.is_asked));
        attacker
    }

    fn over(socket: TcpStream) -> Self {
        socket.set_nodelay(true).expect("a socket takes its options");
        socket.set_write_timeout(Some(PATIENCE)).expect("a socket takes its options");
        let got = Received::by(&socket, read);
        Self { socket, got, next_stream: 1, gone: false, others: Vec::new(), patience: PATIENCE }
    }

    /// So many more connections to the same server, gone through as the attack itself.
    ///
    /// # Panics
    /// As [`silent`](Self::silent).
    pub fn with_others(&mut self, count: usize, mut play: impl FnMut(&mut Self)) {
        let port = self.socket.peer_addr().expect("a connected socket has a peer").port();
        for _ in 0..count {
            let mut other = Self::connect(port);
            play(&mut other);
            self.others.push(other);
        }
    }

    /// Lets this connection go, and becomes one that says nothing.
    ///
    /// # Panics
    /// As [`silent`](Self::silent).
    pub fn fall_silent(&mut self) {
        let port = self.socket.peer_addr().expect("a connected socket has a peer").port();
        let patience = self.patience;
        *self = Self::silent(port);
        self.patience = patience;
    }

    /// So many more connections that say nothing.
    ///
    /// # Panics
    /// As [`silent`](Self::silent).
    pub fn with_silent_others(&mut self, count: usize) {
        let port = self.socket.peer_addr().expect("a connected socket has a peer").port();
        self.others.extend((0..count).map(|_| Self::silent(port)));
    }

    /// Waits until the server has done something about it, or long enough.
    pub fn wait(&self) {
        drop(self.got.wait_for(self.patience, |state| {
            state.has_ended
                || state.goaway.is_some()
                || state.first.is_some_and(|first| first != Answer::Status(200))
        }));
    }

    /// Waits until the connection has ended, or long enough.
    pub fn wait_for_the_end(&self) {
        drop(self.got.wait_for(self.patience, |state| state.has_ended));
    }

    /// A stream that was not used yet.
    pub fn stream(&mut self) -> u32 {
        self.next_stream += 2;
        self.next_stream - 2
    }

    /// Sends a request without content on a new stream, by its field block; returns the stream.
    pub fn ask(&mut self, block: &[u8]) -> u32 {
        let stream = self.stream();
        self.send(&frames::headers(stream, block, true));
        stream
    }

    /// Sends bytes; false once the connection is gone, as is the point of most attacks.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.gone = self.gone || self.socket.write_all(bytes).is_err();
        !self.gone
    }

    /// Sends what `make` makes, so often or until the connection is gone.
    pub fn flood(&mut self, times: usize, mut make: impl FnMut(&mut Self) -> Vec<u8>) {
        for _ in 0..times {
            let bytes = make(self);
            if !self.send(&bytes) || self.got.state().has_ended {
                return;
            }
        }
    }

    /// Waits until the server has answered so many requests on this connection, has ended it, or long enough.
    pub fn wait_for_answers(&self, count: usize) {
        drop(self.got.wait_for(self.patience, |state| {
            state.has_ended || state.goaway.is_some() || state.answers >= count
        }));
    }

    /// Sends what `make` makes once in so long, until a stream was reset, the connection has ended or long
    /// enough.
    pub fn dribble(&mut self, every: Duration, make: impl Fn() -> Vec<u8>) {
        let times = self.patience.as_nanos() / every.as_nanos();
        for _ in 0..times {
            let is_over =
                |state: &State<Notes>| state.has_ended || matches!(state.first, Some(Answer::Reset(_)));
            if !self.send(&make()) || is_over(&self.got.wait_for(every, is_over)) {
                return;
            }
        }
    }

    /// Stops reading, so that what the server sends stays with it.
    pub fn stop_reading(&mut self) {
        self.got.stop(true);
    }
}

impl Attacks for Attacker {
    const THROUGH: Option<Answer> = None;

    /// Connects and gets through the preface, with windows as the protocol has them at first.
    fn connect(port: u16) -> Self {
        let mut attacker = Self::silent(port);
        attacker.send(&[PREFACE, &frames::settings(&[])].concat());
        attacker.send(&frames::settings_ack());
        attacker
    }

    fn lose_patience(&mut self) {
        self.patience = PATIENCE_LOST;
    }

    fn answer(&mut self) -> Answer {
        self.got.stop(false);
        self.send(&frames::frame(kind::PING, flag::NONE, 0, &STILL_THERE));
        let state = self.got.wait_for(PATIENCE, |state| state.has_ended || state.is_served);
        match (state.goaway, state.has_ended, state.is_served) {
            (Some(code), ..) => Answer::GoAway(code),
            (None, true, _) => Answer::Closed,
            (None, false, true) => state.first.unwrap_or(Answer::Served),
            (None, false, false) => Answer::Silence,
        }
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        self.got.stop(false);
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// What came so far.
#[derive(Default)]
struct Notes {
    is_asked: bool,
    first: Option<Answer>,
    /// Heads that have come.
    answers: usize,
    goaway: Option<ErrorCode>,
    is_served: bool,
}

fn read(got: &Received<Notes>, mut socket: Patient<'_, Notes>) {
    while let Ok(Some(frame)) = frames::read(&mut socket) {
        got.change(|notes| notes.take(&frame));
    }
}

impl Notes {
    fn take(&mut self, frame: &Frame) {
        match frame.kind {
            kind::GOAWAY => {
                let code = frame.payload.get(4..8).and_then(|code| code.try_into().ok());
                self.goaway = self.goaway.or(code.map(|code| ErrorCode(u32::from_be_bytes(code))));
            }
            kind::RST_STREAM => {
                let code = frame.payload.first_chunk().map(|code| ErrorCode(u32::from_be_bytes(*code)));
                // An answer that was begun, and broken off.
                self.first =
                    self.first.filter(|first| *first != Answer::Status(200)).or(code.map(Answer::Reset));
            }
            kind::HEADERS => {
                self.is_asked = true;
                self.answers += 1;
                self.first = self.first.or(status(&frame.payload).map(Answer::Status));
            }
            kind::PING => self.is_served |= frame.flags & flag::ACK != 0 && frame.payload == STILL_THERE,
            _ => {}
        }
    }
}

/// The status of a field block as Alula's encoder writes it: first, by an index or as a literal with a name
/// by index (RFC 7541 Appendix A, 8 to 14) and three bytes, which for the statuses of errors here are as
/// short as their Huffman code.
fn status(block: &[u8]) -> Option<u16> {
    const BY_INDEX: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
    match *block {
        [index @ 0x88..=0x8e, ..] => Some(BY_INDEX[usize::from(index - 0x88)]),
        [0x08 | 0x48, 3, a, b, c, ..] => std::str::from_utf8(&[a, b, c]).ok()?.parse().ok(),
        _ => None,
    }
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
