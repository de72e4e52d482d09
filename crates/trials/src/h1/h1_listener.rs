//! A driver that hears what an HTTP/1.1 machine makes of bytes, writes all of it down, and answers in a way
//! that does not depend on the pieces the bytes came in.

use std::time::Duration;

use alula_driven::{Content, Hearer, feed, take_head, take_trailers};
use alula_fields::{FieldSection, Status};
use alula_h1::{
    Config, Connection, ConnectionError, Event, Leniency, Notice, RequestHead, ResponseHead, StreamKey,
};
use alula_machine::{Limits, OutBuf, Time};
use alula_testkit::Pieces;

use crate::input::Input;

/// What was heard, and what was said.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    events: Vec<String>,
    error: Option<ConnectionError>,
    output: Vec<u8>,
}

/// How a listener is set up, and what it does.
#[derive(Clone)]
pub(crate) struct Manner {
    is_client: bool,
    config: Config,
    /// Which requests a client sends, or how a server answers.
    habit: u8,
    /// The transport ends without saying that nothing more would come.
    is_cut: bool,
}

impl Manner {
    /// Two bytes as limits, leniency and habits.
    pub(crate) fn of(input: &mut Input<'_>, is_client: bool) -> Self {
        let (flags, habit) = (input.byte(), input.byte());
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let leniency = Leniency {
            bare_lf: flag(1),
            folded_lines: flag(2),
            space_before_colon: flag(3),
            length_with_coding: flag(4),
            repeated_length: flag(5),
        };
        let limits = if flag(0) { small_limits() } else { Limits::default() };
        let config = Config {
            limits,
            leniency,
            keep_spelling: flag(6),
            accept_truncated_tls: flag(0),
            ..Config::default()
        };
        Self { is_client, config, habit, is_cut: flag(7) }
    }
}

/// Limits that inputs of some hundred bytes reach.
fn small_limits() -> Limits {
    Limits {
        head_bytes: 150,
        target_bytes: 30,
        fields: 5,
        cookie_crumbs: 2,
        chunk_extension_bytes: 10,
        drain_bytes: 20,
        interim_responses: 2,
        stream_window: 100,
        head_timeout: Duration::from_secs(1),
        ..Limits::default()
    }
}

/// What a client asks for, and whether that is all of the request.
const REQUESTS: [(&str, bool); 5] =
    [("GET", true), ("HEAD", true), ("POST", false), ("CONNECT", false), ("OPTIONS", true)];

struct Listener {
    manner: Manner,
    machine: Connection,
    out: OutBuf,
    events: Vec<String>,
    data: Content,
    /// What was read and is not consumed.
    input: Vec<u8>,
    heads: usize,
    asked: usize,
}

/// What comes of these pieces, and of the end after them.
pub(crate) fn hear(manner: &Manner, pieces: &Pieces<'_>) -> Heard {
    let config = manner.config.clone();
    let machine = if manner.is_client { Connection::client(config) } else { Connection::server(config) };
    let (out, events, data, input) = (OutBuf::new(), Vec::new(), Content::default(), Vec::new());
    let mut listener =
        Listener { manner: manner.clone(), machine, out, events, data, input, heads: 0, asked: 0 };
    listener.ask();
    pieces.iter().for_each(|piece| listener.receive(piece));
    listener.end()
}

impl Listener {
    fn receive(&mut self, piece: &[u8]) {
        let mut input = std::mem::take(&mut self.input);
        match feed(self, &mut input, piece, Time::ZERO) {
            Ok(()) => self.check_rest(&input),
            Err(error) => assert_eq!(self.machine.error(), Some(error), "an error is final"),
        }
        self.input = input;
        self.notices();
    }

    /// Only a line that is not whole may be left by a machine that goes on.
    fn check_rest(&self, rest: &[u8]) {
        if self.machine.can_go_on() {
            assert!(!rest.contains(&b'\n'), "a line is here and was not read: {}", rest.escape_ascii());
            let most =
                self.manner.config.limits.head_bytes.max(self.manner.config.limits.chunk_extension_bytes);
            assert!(rest.len() <= most as usize + 17, "{} bytes wait", rest.len());
        }
        let held = self.machine.memory_bytes();
        let most = 32 * 1024 + 8 * self.manner.config.limits.head_bytes as usize;
        assert!(held <= most, "{held} bytes held, {most} at most");
    }

    fn end(mut self) -> Heard {
        let before = self.machine.error();
        let told = match self.manner.is_cut {
            true => self.machine.receive_truncation(Time::ZERO),
            false => self.machine.receive_end(Time::ZERO),
        };
        match told {
            Ok(event) => event.into_iter().for_each(|event| self.event(event)),
            Err(error) => assert!(before.is_none_or(|before| before == error)),
        }
        self.notices();
        self.flush(false);
        self.machine.poll_transmit(&mut self.out);
        Heard { events: self.events, error: self.machine.error(), output: self.out.unsent().to_vec() }
    }

    /// A client sends its next request, one that waits for the server's answer among them.
    fn ask(&mut self) {
        if !self.manner.is_client || self.asked == 8 {
            return;
        }
        let (method, end) = REQUESTS[(usize::from(self.manner.habit) + self.asked) % REQUESTS.len()];
        self.asked += 1;
        let mut fields = FieldSection::new();
        if self.manner.habit & 64 != 0 && method == "GET" {
            fields.append("connection", "upgrade").expect("a good field");
        }
        let (scheme, authority, path) = ("http", "a.example:80", "/");
        let head = RequestHead { method, scheme, authority, path, protocol: None, fields: &fields };
        let asked = self.machine.send_request(&head, end, &mut self.out);
        assert!(asked.is_ok() || self.machine.is_closed(), "an idle connection takes a request: {asked:?}");
    }

    /// Some requests are answered at once, the others when they are whole; some of the first are given up
    /// then.
    fn answer(&mut self, stream: StreamKey, end: bool) {
        let is_early = self.manner.habit >> (self.heads % 4) & 1 == 1;
        match (self.manner.is_client, is_early || end) {
            (true, _) => self.finish_upload(stream),
            (false, true) => self.respond(stream),
            (false, false) => self.machine.invite_content(stream, &mut self.out),
        }
        if is_early && !end && !self.manner.is_client && self.manner.habit & 16 != 0 {
            self.machine.reset(stream);
        }
    }

    fn finish(&mut self, stream: StreamKey) {
        if !self.manner.is_client && self.machine.has_sent_all(stream) == Some(false) {
            self.respond(stream);
        }
    }

    fn respond(&mut self, stream: StreamKey) {
        let (fields, end) = (FieldSection::new(), self.manner.habit & 32 != 0);
        let head = ResponseHead { status: Status::OK, fields: &fields };
        if self.machine.send_response(stream, &head, end, &mut self.out).is_ok() && !end {
            // An answer to HEAD has no content.
            if self.machine.send_data(stream, b"answer", true, &mut self.out).is_err() {
                let ended = self.machine.send_data(stream, b"", true, &mut self.out);
                assert_eq!(ended, Ok(0), "what has no content can end");
            }
        }
    }

    /// A client that still has something to send sends it now, or gives up.
    fn finish_upload(&mut self, stream: StreamKey) {
        if self.machine.has_sent_all(stream) == Some(false) {
            match self.manner.habit & 128 {
                0 => drop(self.machine.send_data(stream, b"", true, &mut self.out)),
                _ => self.machine.reset(stream),
            }
        }
    }

    fn flush(&mut self, end: bool) {
        if let Some((_, bytes)) = self.data.take() {
            self.events.push(format!("data {} {end}", bytes.escape_ascii()));
        }
    }

    fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            self.flush(false);
            self.events.push(format!("{notice:?}"));
            if notice == Notice::Room {
                self.ask();
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
            self.flush(false);
        }
        match event {
            Event::Head { stream, end } => {
                let head = take_head(&mut self.machine, stream);
                self.events.push(format!("{head:?} {end}"));
                self.heads += 1;
                self.answer(stream, end);
            }
            Event::Interim { stream } => {
                let head = take_head(&mut self.machine, stream);
                self.events.push(format!("interim {head:?}"));
            }
            Event::Data { stream, bytes, end } => {
                let other = self.data.add(stream, bytes, end);
                assert!(other.is_none(), "one exchange after the other");
                self.machine.release_capacity(bytes.len() as u32);
                if end {
                    self.flush(true);
                    self.finish(stream);
                }
            }
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                self.events.push(format!("trailers {trailers:?}"));
                self.finish(stream);
            }
            other => self.events.push(format!("{other:?}")),
        }
    }

    fn step(&mut self, _: usize, _: bool) {
        self.notices();
    }
}
