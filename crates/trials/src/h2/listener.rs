//! A driver that hears what a machine makes of bytes, writes all of it down, and answers in a way that does
//! not depend on the pieces the bytes came in.
//!
//! Rule: what depends on the pieces must not change what comes after. So notices are asked for at the end,
//! and nothing is given back or transmitted before; an eager listener does all that, and is good for
//! invariants only.

use alula_driven::{Content, Hearer, feed, take_head, take_trailers};
use alula_fields::{FieldSection, Status};
use alula_h2::{
    Config, Connection, ConnectionError, Counters, Event, Notice, RequestHead, ResponseHead, SendError,
    StreamKey,
};
use alula_machine::{Limits, OutBuf, Time};
use alula_testkit::Pieces;

use super::frames;

/// What was heard, and what was said in the end.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    events: Vec<String>,
    notices: Vec<String>,
    error: Option<ConnectionError>,
    counters: Counters,
    output: Vec<u8>,
}

pub(crate) struct Listener {
    pub(crate) machine: Connection,
    pub(crate) out: OutBuf,
    events: Vec<String>,
    notices: Vec<String>,
    data: Content,
    heads: usize,
    limits: Limits,
    has_small_limits: bool,
    is_eager: bool,
}

/// Limits that inputs of some hundred bytes reach.
pub(crate) fn small_limits() -> Limits {
    Limits {
        field_section_bytes: 400,
        fields: 10,
        cookie_crumbs: 3,
        string_bytes: 100,
        continuation_frames: 2,
        streams: 3,
        stream_window: 2000,
        connection_window: 70_000,
        table_bytes: 200,
        glitch_burst: 10,
        settings_entries: 3,
        queued_acks: 4,
        interim_responses: 2,
        frame_budget_bytes: 1000,
        ..Limits::default()
    }
}

/// What a client asks for, and whether that is all of the request.
const REQUESTS: [(&str, bool); ASKED] =
    [("GET", true), ("POST", false), ("HEAD", true), ("CONNECT", false), ("PUT", false)];
const ASKED: usize = 5;

impl Listener {
    pub(crate) fn new(is_client: bool, has_small_limits: bool, is_eager: bool) -> Self {
        let limits = if has_small_limits { small_limits() } else { Limits::default() };
        let config = Config { limits: limits.clone(), connect_protocol: true, ..Config::default() };
        let machine = if is_client { Connection::client(config) } else { Connection::server(config) };
        let (events, notices) = (Vec::new(), Vec::new());
        Self {
            machine,
            out: OutBuf::new(),
            events,
            notices,
            data: Content::default(),
            heads: 0,
            limits,
            has_small_limits,
            is_eager,
        }
    }

    /// Sends requests of all kinds, for a server that answers whatever the input says.
    pub(crate) fn ask(&mut self) {
        for (method, end) in REQUESTS {
            let fields = FieldSection::new();
            let (scheme, authority, path) = ("https", "a.example:8443", "/");
            let head = RequestHead { method, scheme, authority, path, protocol: None, fields: &fields };
            let stream = self.machine.send_request(&head, end, &mut self.out).expect("a good request");
            // A window that is used up costs the trial as much as all of the rest.
            if method == "PUT" && !self.has_small_limits {
                let sent = self.machine.send_data(stream, &[b'u'; 70_000], true, &mut self.out);
                assert_eq!(sent, Ok(65_535), "what the window is at first");
            }
        }
    }

    /// Hears all pieces, and everything that is left to be said.
    pub(crate) fn hear(mut self, pieces: &Pieces<'_>) -> Heard {
        self.machine.poll_transmit(Time::ZERO, &mut self.out);
        let asked = self.out.len();
        pieces.iter().for_each(|piece| self.receive(piece));
        self.settle();
        self.flush_data(false);
        self.machine.poll_transmit(Time::ZERO, &mut self.out);
        frames::count(self.out.unsent());
        self.check_bounds(self.out.len() - asked, pieces.iter().map(<[u8]>::len).sum());
        let mut counters = *self.machine.counters();
        // Whether a block is known whole depends on the pieces.
        counters.memo_hits = 0;
        let error = self.machine.error();
        let output = self.out.unsent().to_vec();
        Heard { events: self.events, notices: self.notices, error, counters, output }
    }

    /// A peer cannot make a machine say or hold more than its limits allow, however much it sends without
    /// reading.
    fn check_bounds(&mut self, said: usize, input: usize) {
        let limits = &self.limits;
        let (acks, glitches) = (limits.queued_acks as usize, limits.glitch_burst as usize);
        // PING answers have 17 bytes, RST_STREAM and WINDOW_UPDATE have 13, an answer has head and content,
        // and GOAWAY says which rule was broken. Each request that ends well gives a token back.
        let said_max = 17 * acks + 13 * (glitches + 1) + (13 + 40) * self.heads + 13 * input / 256 + 300;
        assert!(said <= said_max, "{said} bytes said, {said_max} at most");
        let streams = limits.streams as usize + ASKED;
        let section = limits.field_section_bytes as usize;
        let held_max = streams * (8 * section + 4096) + 16 * limits.string_bytes as usize + 128 * 1024;
        let held = self.machine.memory_bytes();
        assert!(held <= held_max, "{held} bytes held, {held_max} at most");
    }

    fn receive(&mut self, input: &[u8]) {
        let mut unused = Vec::new();
        match feed(self, &mut unused, input, Time::ZERO) {
            Ok(()) => assert!(unused.is_empty(), "input is left without an event"),
            Err(error) => assert_eq!(self.machine.error(), Some(error), "an error is final"),
        }
    }

    /// Every other request is answered at once.
    fn answer(&mut self, stream: StreamKey) {
        self.heads += 1;
        if self.machine.is_client() || self.heads.is_multiple_of(2) {
            return;
        }
        let fields = FieldSection::new();
        let head = ResponseHead { status: Status::OK, fields: &fields };
        let sent = self.machine.send_response(stream, &head, false, &mut self.out);
        let is_too_large = matches!(sent, Err(SendError::FieldsTooLarge { .. }));
        assert!(sent.is_ok() || is_too_large, "a request can be answered: {sent:?}");
        // A response to HEAD has no content.
        let _ = self.machine.send_data(stream, b"answer", true, &mut self.out);
    }

    fn data(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        if let Some((other, bytes)) = self.data.add(stream, bytes, end) {
            self.note_data(other, &bytes, false);
        }
        if self.is_eager {
            let _ = self.machine.release_capacity(stream, bytes.len() as u32);
        }
        if end {
            self.flush_data(true);
        }
    }

    fn flush_data(&mut self, end: bool) {
        if let Some((stream, bytes)) = self.data.take() {
            self.note_data(stream, &bytes, end);
        }
    }

    fn note_data(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        let sum = bytes.iter().fold(0, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        self.events.push(format!("data {:?} {} {sum:x} {end}", stream.slot(), bytes.len()));
    }

    /// Asks for notices, and lets go of what was reset.
    fn settle(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            self.notices.push(format!("{notice:?}"));
            match notice {
                Notice::Reset { stream, .. } => self.machine.forget(stream),
                Notice::Writable { stream } => assert!(self.machine.send_capacity(stream) > 0),
                _ => {}
            }
        }
        self.machine.check_invariants();
    }
}

impl Hearer for Listener {
    type Machine = Connection;

    fn machine(&mut self) -> &mut Connection {
        &mut self.machine
    }

    fn event(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Data { .. }) {
            self.flush_data(false);
        }
        match event {
            Event::Head { stream, end } => {
                let head = take_head(&mut self.machine, stream);
                self.events.push(format!("{:?} {head:?} {end}", stream.slot()));
                self.answer(stream);
            }
            Event::Interim { stream } => {
                let head = take_head(&mut self.machine, stream);
                self.events.push(format!("interim {:?} {head:?}", stream.slot()));
            }
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                self.events.push(format!("trailers {:?} {trailers:?}", stream.slot()));
            }
            Event::Data { stream, bytes, end } => self.data(stream, bytes, end),
            other => self.events.push(format!("{other:?}")),
        }
    }

    fn step(&mut self, _: usize, has_event: bool) {
        self.machine.check_invariants();
        if self.is_eager && has_event {
            self.settle();
        }
    }
}
