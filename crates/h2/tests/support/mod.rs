//! A client and a server that talk to each other on simulated time, and small helpers for frames.
#![allow(dead_code, unreachable_pub)]

pub mod wire;

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{
    Config, Connection, ConnectionError, Event, Notice, RequestHead, ResponseHead, SendError, StreamKey,
};
use alula_machine::{OutBuf, Time};

/// One end of a connection: the machine, its output, and a log of what it told.
pub struct End {
    pub machine: Connection,
    pub out: OutBuf,
    /// Events and notices, one line each; DATA that arrived in pieces is one line.
    pub log: Vec<String>,
    /// The streams of the heads, in order of arrival.
    pub streams: Vec<StreamKey>,
    pub error: Option<ConnectionError>,
    /// True if DATA is given back as soon as it arrives.
    pub consumes: bool,
    now: Time,
    data: Option<(StreamKey, Vec<u8>)>,
}

impl End {
    pub fn new(machine: Connection) -> Self {
        let (out, log, streams) = (OutBuf::new(), Vec::new(), Vec::new());
        Self { machine, out, log, streams, error: None, consumes: true, now: Time::ZERO, data: None }
    }

    pub fn client() -> Self {
        Self::new(Connection::client(Config::default()))
    }

    pub fn server() -> Self {
        Self::new(Connection::server(Config::default()))
    }

    /// Feeds all of the input, and logs what it means.
    pub fn receive(&mut self, mut input: &[u8]) {
        loop {
            let received = match self.machine.receive(input, self.now) {
                Ok(received) => received,
                Err(error) => {
                    self.flush_data(false);
                    if self.error.replace(error).is_none() {
                        self.log.push(format!("error {error}"));
                    }
                    break;
                }
            };
            assert!(received.consumed <= input.len());
            input = &input[received.consumed..];
            match received.event {
                Some(event) => self.event(event),
                None => break,
            }
            self.notices();
        }
        assert!(input.is_empty() || self.error.is_some(), "input is left without an event");
        self.notices();
        self.machine.check_invariants();
    }

    /// Ends a line of DATA that may go on.
    pub fn settle(&mut self) {
        self.flush_data(false);
    }

    fn event(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Data { .. }) {
            self.flush_data(false);
        }
        match event {
            Event::Head { stream, end } => {
                let head = self.take_head(stream);
                self.streams.push(stream);
                self.log.push(format!("head {}{}", show_head(&head), if end { " end" } else { "" }));
            }
            Event::Interim { stream } => {
                let head = self.take_head(stream);
                self.log.push(format!("interim {}", show_head(&head)));
            }
            Event::HeadTooLarge { stream, end } => {
                self.streams.push(stream);
                self.log.push(format!("head too large{}", if end { " end" } else { "" }));
            }
            Event::Data { stream, bytes, end } => self.data(stream, bytes, end),
            Event::Trailers { stream } => {
                let mut trailers = FieldSection::new();
                self.machine.take_trailers(stream, &mut trailers).unwrap();
                self.log.push(format!("trailers{}", show_fields(&trailers)));
            }
            Event::Fact(fact) => self.log.push(format!("{fact:?}")),
            other => self.log.push(format!("{other:?}")),
        }
    }

    fn take_head(&mut self, stream: StreamKey) -> Head {
        let mut head = Head::new();
        self.machine.take_head(stream, &mut head).unwrap();
        head
    }

    fn data(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        assert!(end || !bytes.is_empty(), "an empty piece says nothing");
        if self.data.as_ref().is_some_and(|(other, _)| *other != stream) {
            self.flush_data(false);
        }
        self.data.get_or_insert((stream, Vec::new())).1.extend_from_slice(bytes);
        if self.consumes {
            let _ = self.machine.release_capacity(stream, bytes.len() as u32);
        }
        if end {
            self.flush_data(true);
        }
    }

    fn flush_data(&mut self, end: bool) {
        if let Some((_, octets)) = self.data.take() {
            let text = match octets.len() {
                0..=40 => String::from_utf8_lossy(&octets).into_owned(),
                len => format!("{len} octets"),
            };
            self.log.push(format!("data {text}{}", if end { " end" } else { "" }));
        }
    }

    pub fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            self.flush_data(false);
            match notice {
                Notice::Reset { stream, reset } => {
                    let safe = if reset.unprocessed { " unprocessed" } else { "" };
                    self.log.push(format!("reset {} by {:?}{safe}", reset.code, Origin(reset.origin)));
                    self.machine.forget(stream);
                }
                Notice::Writable { .. } => self.log.push("writable".into()),
                Notice::Room => self.log.push("room".into()),
                Notice::Last(Some(farewell)) => {
                    self.log.push(format!("farewell {} after {}", farewell.code, farewell.last));
                }
                other => self.log.push(format!("{other:?}")),
            }
        }
    }

    /// Moves control frames to the output and takes all of it.
    pub fn transmit(&mut self) -> Vec<u8> {
        self.machine.poll_transmit(self.now, &mut self.out);
        let octets = self.out.unsent().to_vec();
        self.out.clear();
        octets
    }

    pub fn request(&mut self, method: &str, path: &str, end: bool) -> Result<StreamKey, SendError> {
        self.request_with(method, path, &[], end)
    }

    pub fn request_with(
        &mut self,
        method: &str,
        path: &str,
        pairs: &[(&str, &str)],
        end: bool,
    ) -> Result<StreamKey, SendError> {
        let fields = fields(pairs);
        let head = RequestHead {
            method,
            scheme: "https",
            authority: "a.example",
            path,
            protocol: None,
            fields: &fields,
        };
        self.machine.send_request(&head, end, &mut self.out)
    }

    pub fn respond(
        &mut self,
        stream: StreamKey,
        status: u16,
        pairs: &[(&str, &str)],
        end: bool,
    ) -> Result<(), SendError> {
        let fields = fields(pairs);
        let head = ResponseHead { status: Status::new(status).unwrap(), fields: &fields };
        match head.status.is_interim() {
            true => self.machine.send_interim(stream, &head, &mut self.out),
            false => self.machine.send_response(stream, &head, end, &mut self.out),
        }
    }

    pub fn data_out(&mut self, stream: StreamKey, data: &[u8], end: bool) -> Result<usize, SendError> {
        self.machine.send_data(stream, data, end, &mut self.out)
    }

    pub fn trailers_out(&mut self, stream: StreamKey, pairs: &[(&str, &str)]) -> Result<(), SendError> {
        self.machine.send_trailers(stream, &fields(pairs), &mut self.out)
    }

    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Takes the log.
    pub fn take_log(&mut self) -> Vec<String> {
        self.settle();
        std::mem::take(&mut self.log)
    }
}

struct Origin(alula_h2::Origin);

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            alula_h2::Origin::Peer => f.write_str("peer"),
            alula_h2::Origin::GoAway => f.write_str("goaway"),
            alula_h2::Origin::Us(rule) => write!(f, "us: {rule}"),
        }
    }
}

/// A client and a server with a wire between them.
pub struct Pair {
    pub client: End,
    pub server: End,
    pub now: Time,
}

impl Pair {
    pub fn new() -> Self {
        Self::with(Config::default(), Config::default())
    }

    /// A pair whose settings are exchanged already.
    pub fn ready() -> Self {
        let mut pair = Self::new();
        pair.settle();
        pair
    }

    pub fn with(client: Config, server: Config) -> Self {
        let (client, server) = (Connection::client(client), Connection::server(server));
        Self { client: End::new(client), server: End::new(server), now: Time::ZERO }
    }

    /// Exchanges settings and forgets what was logged.
    pub fn settle(&mut self) {
        self.drive();
        self.client.log.clear();
        self.server.log.clear();
    }

    /// Carries octets both ways until nobody has any left.
    pub fn drive(&mut self) {
        loop {
            let (up, down) = (self.client.transmit(), self.server.transmit());
            if up.is_empty() && down.is_empty() {
                break;
            }
            self.server.receive(&up);
            self.client.receive(&down);
        }
        self.client.settle();
        self.server.settle();
    }

    /// Lets time pass on both sides.
    pub fn pass(&mut self, nanos: u64) {
        self.now = Time::from_nanos(self.now.as_nanos() + nanos);
        for end in [&mut self.client, &mut self.server] {
            end.set_now(self.now);
            end.machine.handle_timeout(self.now);
            end.notices();
        }
        self.drive();
    }

    /// The key the server knows the latest request by.
    pub fn accepted(&self) -> StreamKey {
        *self.server.streams.last().unwrap()
    }
}

pub fn fields(pairs: &[(&str, &str)]) -> FieldSection {
    let mut fields = FieldSection::new();
    for (name, value) in pairs {
        fields.append(*name, value).unwrap();
    }
    fields
}

pub fn show_head(head: &Head) -> String {
    let parts = [head.method(), head.protocol(), head.scheme(), head.authority(), head.path()];
    let mut text: Vec<String> = parts.into_iter().flatten().map(String::from).collect();
    text.extend(head.status().map(|status| status.as_u16().to_string()));
    text.join(" ") + &show_fields(&head.fields)
}

pub fn show_fields(fields: &FieldSection) -> String {
    let show = |field: alula_fields::Field<'_>| {
        format!(" {}={}", field.name().as_str(), String::from_utf8_lossy(field.value()))
    };
    fields.iter().map(show).collect()
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

/// The frames in some octets: kind, flags, stream, payload.
pub fn frames(mut octets: &[u8]) -> Vec<(u8, u8, u32, Vec<u8>)> {
    const MAGIC: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    octets = octets.strip_prefix(MAGIC).unwrap_or(octets);
    let mut frames = Vec::new();
    while let [a, b, c, kind, flags, e, f, g, h, rest @ ..] = octets {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let stream = u32::from_be_bytes([*e, *f, *g, *h]);
        frames.push((*kind, *flags, stream, rest[..length].to_vec()));
        octets = &rest[length..];
    }
    assert!(octets.is_empty(), "a frame is cut");
    frames
}
