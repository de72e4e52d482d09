//! Operations on one machine, and any frames or bytes from its peer between them.

use std::time::Duration;

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{
    Config, Connection, ConnectionError, Counters, ErrorCode, Event, Hole, Notice, Prepared, RequestHead,
    ResponseHead, SendError, Settings, StreamKey,
};
use alula_machine::{OutBuf, Time};

use super::frames::{MAGIC, any_frame, count, frame};
use super::listener::small_limits;
use crate::input::Input;

/// Bytes as a role and limits, and then as operations.
pub fn h2_operations(data: &[u8]) {
    let mut input = Input::new(data);
    let mut trial = Trial::new(&mut input);
    while !input.is_empty() {
        trial.step(&mut input);
        trial.check();
    }
    trial.transmit();
}

struct Trial {
    machine: Connection,
    out: OutBuf,
    now: Time,
    /// Keys that were good once, also those that are not any more.
    streams: Vec<StreamKey>,
    fields: FieldSection,
    prepared: Prepared,
    error: Option<ConnectionError>,
}

/// What a refused command must not change.
#[derive(Debug, PartialEq)]
struct Snapshot {
    out: usize,
    in_flight: usize,
    slots: usize,
    wants_write: bool,
    due: Option<Time>,
    capacities: Vec<usize>,
    counters: Counters,
    sent: Settings,
}

impl Trial {
    fn new(input: &mut Input<'_>) -> Self {
        let (is_client, is_small) = (input.flag(), input.flag());
        let mut config = Config { connect_protocol: true, trace: true, ..Config::default() };
        config.keep_alive = input.flag().then_some(Duration::from_secs(2));
        if is_small {
            config.limits = small_limits();
        }
        let machine = if is_client { Connection::client(config) } else { Connection::server(config) };
        let (mut bytes, mut fields) = (Vec::new(), FieldSection::new());
        if !is_client {
            bytes.extend_from_slice(MAGIC);
        }
        frame(4, 0, 0, &[], &mut bytes);
        fields.append("x-own", "value").expect("a good field");
        let prepared = Prepared::new(&request("PUT", &fields), &[Hole::Path, Hole::Field("x-hole")]);
        let prepared = prepared.expect("a good request");
        let (out, now, streams) = (OutBuf::new(), Time::ZERO, Vec::new());
        let mut trial = Self { machine, out, now, streams, fields, prepared, error: None };
        trial.receive(&bytes);
        trial
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(20) {
            0..=4 => {
                let mut bytes = Vec::new();
                any_frame(input, !self.machine.is_client(), &mut bytes);
                let (first, second) = bytes.split_at(input.below(bytes.len() + 1));
                self.receive(first);
                self.receive(second);
            }
            5 => self.receive(input.string()),
            6 | 7 => self.head(input),
            8 | 9 => self.data(input),
            10 => self.trailers(input),
            11 => self.release(input),
            12 => self.let_go(input),
            13 => self.go_away(input),
            14 => self.tell(input),
            15 => self.grow(input),
            16 => self.pass(input),
            17 => self.transmit(),
            18 => self.take(input),
            _ => self.machine.trim(),
        }
    }

    fn stream(&self, input: &mut Input<'_>) -> Option<StreamKey> {
        let choice = input.below(self.streams.len());
        self.streams.get(choice).copied()
    }

    fn receive(&mut self, mut bytes: &[u8]) {
        loop {
            let received = match self.machine.receive(bytes, self.now) {
                Ok(received) => received,
                Err(error) => return assert_eq!(self.machine.error(), Some(error)),
            };
            assert!(received.consumed <= bytes.len());
            bytes = &bytes[received.consumed..];
            let Some(event) = received.event else { break };
            self.event(event);
        }
        assert!(bytes.is_empty(), "input is left without an event");
        self.notices();
    }

    /// Heads and trailers stay where they are until an operation takes them.
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, .. } | Event::HeadTooLarge { stream, .. } => self.remember(stream),
            Event::Interim { stream } | Event::Trailers { stream } | Event::Data { stream, .. } => {
                assert!(self.streams.contains(&stream), "a stream nobody has heard of");
            }
            _ => {}
        }
    }

    fn remember(&mut self, stream: StreamKey) {
        assert!(self.machine.stream_id(stream).is_some(), "the key of a new stream is good");
        if !self.streams.contains(&stream) {
            self.streams.push(stream);
        }
    }

    fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            match notice {
                Notice::Writable { stream } => assert!(self.machine.send_capacity(stream) > 0),
                Notice::Room => assert!(self.machine.is_client()),
                Notice::Closed(error) => assert_eq!(self.machine.error(), Some(error)),
                _ => {}
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
        let machine = &self.machine;
        Snapshot {
            out: self.out.len(),
            in_flight: machine.in_flight(),
            slots: machine.available_slots(),
            wants_write: machine.wants_write(),
            due: machine.poll_timeout(),
            capacities: self.streams.iter().map(|&stream| machine.send_capacity(stream)).collect(),
            counters: *machine.counters(),
            sent: *machine.sent_settings(),
        }
    }

    /// Gives a command: refused, it has changed nothing; of a connection that has ended, every one is
    /// refused.
    fn command<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, SendError>) -> Option<T> {
        let before = self.snapshot();
        match run(self) {
            Ok(answer) => {
                assert_eq!(self.error, None, "a command to a connection that has ended");
                Some(answer)
            }
            Err(error) => {
                assert_eq!(self.snapshot(), before, "{error}");
                None
            }
        }
    }

    fn head(&mut self, input: &mut Input<'_>) {
        let (end, choice) = (input.flag(), input.byte());
        let fields = match choice & 0x40 {
            0 => FieldSection::new(),
            _ => odd_fields(input),
        };
        if self.machine.is_client() {
            return self.request(&fields, end, choice, input);
        }
        let Some(stream) = self.stream(input) else { return };
        let status = Status::new(100 + u16::from(choice & 0x3f) * 8).expect("three digits");
        let head = ResponseHead { status, fields: &fields };
        self.command(|trial| match head.status.is_interim() {
            true => trial.machine.send_interim(stream, &head, &mut trial.out),
            false => trial.machine.send_response(stream, &head, end, &mut trial.out),
        });
    }

    fn request(&mut self, fields: &FieldSection, end: bool, choice: u8, input: &mut Input<'_>) {
        const METHODS: [&str; 6] = ["GET", "POST", "HEAD", "CONNECT", "OPTIONS", "not a method"];
        let stream = if choice & 0x80 == 0 {
            let head = request(METHODS[usize::from(choice) % METHODS.len()], fields);
            self.command(|trial| trial.machine.send_request(&head, end, &mut trial.out))
        } else {
            let values: [&[u8]; 2] = [b"/path", input.string()];
            self.command(|trial| trial.machine.send_prepared(&trial.prepared, &values, end, &mut trial.out))
        };
        stream.into_iter().for_each(|stream| self.remember(stream));
    }

    fn data(&mut self, input: &mut Input<'_>) {
        let (end, len) = (input.flag(), usize::from(input.byte()).pow(2));
        let Some(stream) = self.stream(input) else { return };
        let capacity = self.machine.send_capacity(stream);
        let sent =
            self.command(|trial| trial.machine.send_data(stream, &vec![b'd'; len], end, &mut trial.out));
        assert!(sent.is_none_or(|sent| sent == len.min(capacity)));
    }

    fn trailers(&mut self, input: &mut Input<'_>) {
        let fields = if input.flag() { odd_fields(input) } else { self.fields.clone() };
        let Some(stream) = self.stream(input) else { return };
        self.command(|trial| trial.machine.send_trailers(stream, &fields, &mut trial.out));
    }

    fn release(&mut self, input: &mut Input<'_>) {
        let bytes = u32::from(input.u16());
        let Some(stream) = self.stream(input) else { return };
        let held = self.machine.unreleased(stream);
        let is_known = self.machine.stream_id(stream).is_some();
        assert_eq!(self.machine.release_capacity(stream, bytes).is_ok(), is_known);
        let left = self.machine.unreleased(stream);
        assert_eq!(left, held - held.min(bytes));
    }

    fn let_go(&mut self, input: &mut Input<'_>) {
        let code = ErrorCode(u32::from(input.byte()));
        let Some(stream) = self.stream(input) else { return };
        if code.0 & 1 == 0 {
            self.machine.reset(stream, code);
        } else {
            self.machine.forget(stream);
        }
        assert_eq!((self.machine.stream_id(stream), self.machine.unreleased(stream)), (None, 0));
    }

    fn go_away(&mut self, input: &mut Input<'_>) {
        match input.byte() {
            0..8 => self.machine.close(ErrorCode::NO_ERROR),
            choice @ 8..64 => self.machine.goaway(choice & 1 == 1),
            _ => {}
        }
    }

    fn tell(&mut self, input: &mut Input<'_>) {
        if input.flag() {
            let payload = input.u64().to_be_bytes();
            self.command(|trial| trial.machine.ping(payload));
            return;
        }
        let mut settings = *self.machine.sent_settings();
        match input.below(5) {
            0 => settings.stream_window = input.u32(),
            1 => settings.table_bytes = u32::from(input.u16()),
            2 => settings.frame_bytes_max = input.u32(),
            3 => settings.streams_max = input.flag().then_some(u32::from(input.byte())),
            _ => settings.field_section_bytes_max = input.flag().then_some(u32::from(input.u16())),
        }
        self.command(|trial| trial.machine.update_settings(settings));
    }

    fn grow(&mut self, input: &mut Input<'_>) {
        let (bytes, of_stream) = (input.u32(), input.flag());
        if !of_stream {
            self.command(|trial| trial.machine.grow_window(bytes));
        } else if let Some(stream) = self.stream(input)
            && self.error.is_none()
        {
            self.command(|trial| trial.machine.grow_stream_window(stream, bytes));
        }
    }

    fn pass(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(Duration::from_millis(u64::from(input.byte()) * 16));
        self.machine.handle_timeout(self.now);
        let due = self.machine.poll_timeout();
        assert!(due.is_none_or(|due| due > self.now), "what is due was done");
    }

    fn take(&mut self, input: &mut Input<'_>) {
        let Some(stream) = self.stream(input) else { return };
        let (mut head, mut trailers) = (Head::new(), FieldSection::new());
        let is_known = self.machine.stream_id(stream).is_some();
        assert_eq!(self.machine.take_head(stream, &mut head).is_ok(), is_known);
        let is_known = self.machine.stream_id(stream).is_some();
        assert_eq!(self.machine.take_trailers(stream, &mut trailers).is_ok(), is_known);
    }

    fn transmit(&mut self) {
        let before = self.out.len();
        assert_eq!(self.machine.poll_transmit(self.now, &mut self.out), self.out.len() - before);
        assert!(!self.machine.wants_write());
        count(self.out.unsent());
        self.out.clear();
        while self.machine.poll_trace().is_some() {}
    }

    fn check(&mut self) {
        self.notices();
        self.machine.check_invariants();
        let error = self.machine.error();
        assert!(self.error.is_none() || self.error == error, "an error is final");
        self.error = error;
        if error.is_some() {
            assert!(self.machine.is_closed() && self.machine.poll_timeout().is_none());
            assert_eq!(self.machine.receive(b"x", self.now).err(), error);
        }
    }
}

fn request<'a>(method: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    let (scheme, authority, path) = ("https", "a.example", "/");
    RequestHead { method, scheme, authority, path, protocol: None, fields }
}

/// Fields that mean something to HTTP/2, and some that must not be sent over it.
fn odd_fields(input: &mut Input<'_>) -> FieldSection {
    const NAMES: [&str; 8] =
        ["content-length", "te", "host", "connection", "cookie", "x-a", "upgrade", "transfer-encoding"];
    const VALUES: [&str; 8] =
        ["10", "trailers", "a.example", "close", " a ", "", "18446744073709551616", "0"];
    let mut fields = FieldSection::new();
    for _ in 0..input.below(4) {
        fields.append(*input.pick(&NAMES), *input.pick(&VALUES)).expect("good names and values");
    }
    fields
}
