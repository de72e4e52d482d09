//! One end of a connection, with the buffer of a driver and a log of what the machine told.
#![allow(dead_code, unreachable_pub)]

pub use alula_driven::fields;
use alula_driven::{Content, Hearer, feed, show_content, show_fields, show_head, take_head, take_trailers};
use alula_fields::Status;
use alula_h1::{
    Connection, ConnectionError, Event, Notice, RequestHead, ResponseHead, SendError, StreamKey, Violation,
};
use alula_machine::{OutBuf, Rule as _, Time};

/// What a server does of its own accord.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answers {
    /// Nothing: the test says what.
    Never,
    /// Each request once it is whole: 200, with its path for content.
    Whole,
    /// Each request as soon as its head is here; it gives up what is left of it.
    Early,
}

pub struct End {
    pub machine: Connection,
    pub out: OutBuf,
    /// Events and notices, one line each; content that arrived in pieces is one line.
    pub log: Vec<String>,
    /// The bytes of each head that came, interim ones too.
    pub head_bytes: Vec<u32>,
    /// The latest exchange.
    pub stream: Option<StreamKey>,
    pub answers: Answers,
    pub now: Time,
    /// What was read and is not consumed.
    input: Vec<u8>,
    path: String,
    content: Content,
    /// Something came of which nothing was told yet.
    has_begun: bool,
}

impl End {
    pub fn new(machine: Connection, answers: Answers) -> Self {
        Self {
            machine,
            out: OutBuf::new(),
            log: Vec::new(),
            head_bytes: Vec::new(),
            stream: None,
            answers,
            now: Time::ZERO,
            input: Vec::new(),
            path: String::new(),
            content: Content::default(),
            has_begun: false,
        }
    }

    /// The same, answering of its own accord.
    pub fn answering(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Returns true if a message has begun that is still to be told of.
    pub fn has_half_a_head(&self) -> bool {
        self.has_begun || !self.input.is_empty()
    }

    /// Reads bytes, and hears what comes of them.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        self.go_on();
    }

    /// Hears what comes of the bytes that are here, until nothing does.
    pub fn go_on(&mut self) {
        let mut input = std::mem::take(&mut self.input);
        // The machine keeps the error.
        let _ = feed(self, &mut input, &[], self.now);
        self.input = input;
        self.notices();
    }

    /// The peer closes its side.
    pub fn receive_end(&mut self) {
        if let Ok(event) = self.machine.receive_end(self.now) {
            event.into_iter().for_each(|event| self.event(event));
        }
        self.notices();
    }

    /// The transport ends and does not say that nothing more would come.
    pub fn receive_truncation(&mut self) {
        if let Ok(event) = self.machine.receive_truncation(self.now) {
            event.into_iter().for_each(|event| self.event(event));
        }
        self.notices();
    }

    /// Time passes.
    pub fn wait(&mut self, nanos: u64) {
        self.now = Time::from_nanos(self.now.as_nanos() + nanos);
        self.machine.handle_timeout(self.now);
        self.notices();
    }

    fn end_if(&mut self, end: bool) {
        if end {
            self.answer_if(Answers::Whole);
        }
    }

    fn answer_if(&mut self, answers: Answers) {
        if self.machine.is_client() || self.answers != answers {
            return;
        }
        let (stream, content) = (self.stream.unwrap(), self.path.clone());
        let length = content.len().to_string();
        self.respond(200, &[("content-length", &length)], content.is_empty()).unwrap();
        // An answer to HEAD has none.
        if self.machine.has_sent_all(stream) == Some(false)
            && self.data_out(content.as_bytes(), true).is_err()
        {
            self.data_out(b"", true).unwrap();
        }
        if answers == Answers::Early {
            self.machine.reset(stream);
        }
    }

    /// Ends a line of content that may go on.
    pub fn flush(&mut self, end: bool) {
        if let Some((_, bytes)) = self.content.take() {
            self.log.push(format!("data {}{}", show_content(&bytes), if end { " end" } else { "" }));
        }
    }

    pub fn notices(&mut self) {
        while self.machine.has_notice() {
            let notice = self.machine.poll_notice().expect("it was said that there is one");
            self.flush(false);
            self.log.push(match notice {
                Notice::Room => "idle".into(),
                Notice::Last(None) => "last".into(),
                Notice::Writable { .. } => "writable".into(),
                Notice::Closed(ConnectionError::Peer(rule)) => format!("closed {}", name_of(rule)),
                Notice::Closed(error) => format!("closed {error:?}"),
                other => format!("{other:?}"),
            });
        }
        assert_eq!(self.machine.poll_notice(), None);
        self.machine.check_invariants();
    }

    /// Takes all output, what the machine itself has to say last.
    pub fn transmit(&mut self) -> Vec<u8> {
        self.machine.poll_transmit(&mut self.out);
        let bytes = self.out.unsent().to_vec();
        self.out.clear();
        bytes
    }

    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        pairs: &[(&str, &str)],
        end: bool,
    ) -> Result<StreamKey, SendError> {
        let fields = fields(pairs);
        let (scheme, authority) = ("http", if method == "CONNECT" { "a.example:443" } else { "a.example" });
        let head = RequestHead { method, scheme, authority, path, protocol: None, fields: &fields };
        let stream = self.machine.send_request(&head, end, &mut self.out)?;
        self.stream = Some(stream);
        Ok(stream)
    }

    pub fn respond(&mut self, status: u16, pairs: &[(&str, &str)], end: bool) -> Result<(), SendError> {
        let (fields, stream) = (fields(pairs), self.stream.unwrap());
        let head = ResponseHead { status: Status::new(status).unwrap(), fields: &fields };
        match head.status.is_interim() {
            true => self.machine.send_interim(stream, &head, &mut self.out),
            false => self.machine.send_response(stream, &head, end, &mut self.out),
        }
    }

    pub fn data_out(&mut self, data: &[u8], end: bool) -> Result<usize, SendError> {
        self.machine.send_data(self.stream.unwrap(), data, end, &mut self.out)
    }

    pub fn trailers_out(&mut self, pairs: &[(&str, &str)]) -> Result<(), SendError> {
        self.machine.send_trailers(self.stream.unwrap(), &fields(pairs), &mut self.out)
    }
}

impl Hearer for End {
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
                self.stream = Some(stream);
                self.head_bytes.push(head.received_bytes());
                self.path = head.path().unwrap_or_default().into();
                self.log.push(show_head(&head) + if end { " end" } else { "" });
                self.answer_if(Answers::Early);
                self.end_if(end);
            }
            Event::Interim { stream } => {
                let head = take_head(&mut self.machine, stream);
                self.head_bytes.push(head.received_bytes());
                self.log.push(format!("interim {}", show_head(&head)));
            }
            Event::Data { stream, bytes, end } => {
                let other = self.content.add(stream, bytes, end);
                assert!(other.is_none(), "one exchange after the other");
                self.machine.release_capacity(bytes.len() as u32);
                if end {
                    self.flush(true);
                }
                self.end_if(end);
            }
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                self.log.push(format!("trailers{}", show_fields(&trailers)));
                self.end_if(true);
            }
            other => self.log.push(format!("{other:?}")),
        }
    }

    fn step(&mut self, consumed: usize, has_event: bool) {
        self.has_begun = !has_event && (self.has_begun || consumed > 0);
        self.notices();
    }
}

/// The constant of a rule.
pub fn name_of(rule: Violation) -> &'static str {
    rule.name().trim_start_matches("H1_")
}

/// The rule whose constant has this name.
#[allow(dead_code, reason = "one of the tests asks")]
pub fn rule(constant: &str) -> Option<Violation> {
    Violation::ALL.iter().find(|(name, _)| name.strip_prefix("H1_") == Some(constant)).map(|(_, rule)| *rule)
}
