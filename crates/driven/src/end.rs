//! One end of a connection: a machine, its output, and a log of what it told.

use std::fmt::Debug;

use alula_fields::{RequestHead, ResponseHead, Status};
use alula_machine::{
    ConnectionError, Event, Notice, Origin, OutBuf, ProtocolMachine, SendError, StreamKey, Time,
};

use crate::content::Content;
use crate::hearing::{Hearer, feed};
use crate::messages::{fields, show_content, show_fields, show_head, take_head, take_trailers};

/// The end, with a driver that gives content back as soon as it comes, and lets go of streams that were
/// reset.
pub struct End<M: ProtocolMachine> {
    /// The machine.
    pub machine: M,
    /// Its output.
    pub out: OutBuf,
    /// Events and notices, one line each; content that arrived in pieces is one line.
    pub log: Vec<String>,
    /// The streams of the heads, in order of arrival.
    pub streams: Vec<StreamKey>,
    /// The error by which the connection has ended.
    pub error: Option<ConnectionError<M::Rule>>,
    /// Content is given back as soon as it arrives.
    pub consumes: bool,
    /// Streams that were reset are let go of as soon as that is told.
    pub lets_go: bool,
    now: Time,
    /// Bytes that were read and are not used up.
    input: Vec<u8>,
    content: Content,
}

impl<M: ProtocolMachine<Fact: Debug>> End<M> {
    /// An end at the beginning of a connection.
    pub fn new(machine: M) -> Self {
        Self {
            machine,
            out: OutBuf::new(),
            log: Vec::new(),
            streams: Vec::new(),
            error: None,
            consumes: true,
            lets_go: true,
            now: Time::ZERO,
            input: Vec::new(),
            content: Content::default(),
        }
    }

    /// Feeds bytes, and hears what comes of them until nothing does.
    ///
    /// # Panics
    /// When the machine breaks the contract.
    pub fn receive(&mut self, bytes: &[u8]) {
        let mut input = std::mem::take(&mut self.input);
        let fed = feed(self, &mut input, bytes, self.now);
        self.input = input;
        fed.unwrap_or_else(|error| self.ended(error));
        self.notices();
        self.machine.check_invariants();
    }

    /// Tells the machine that nothing more comes.
    pub fn receive_end(&mut self) {
        match self.machine.receive_end(false, self.now) {
            Ok(event) => event.into_iter().for_each(|event| self.event(event)),
            Err(error) => self.ended(error),
        }
        self.notices();
    }

    /// The bytes that were read and wait to be given again.
    pub fn unused(&self) -> &[u8] {
        &self.input
    }

    fn ended(&mut self, error: ConnectionError<M::Rule>) {
        self.settle();
        if self.error.replace(error).is_none() {
            self.log.push(format!("error {error}"));
        }
    }

    /// Ends a line of content that may go on.
    pub fn settle(&mut self) {
        self.flush_data(false);
    }

    fn data(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        if let Some((_, bytes)) = self.content.add(stream, bytes, end) {
            self.show_data(&bytes, false);
        }
        if self.consumes {
            self.machine.release_capacity(stream, bytes.len() as u32);
        }
        if end {
            self.flush_data(true);
        }
    }

    fn flush_data(&mut self, end: bool) {
        if let Some((_, bytes)) = self.content.take() {
            self.show_data(&bytes, end);
        }
    }

    fn show_data(&mut self, bytes: &[u8], end: bool) {
        self.log.push(format!("data {}{}", show_content(bytes), mark(end)));
    }

    /// Hears what happened beside the events.
    pub fn notices(&mut self) {
        while self.machine.has_notice() {
            // A turn may have come to nobody.
            let Some(notice) = self.machine.poll_notice() else { break };
            self.settle();
            self.log.push(line_of(notice));
            if let (Notice::Reset { stream, .. }, true) = (notice, self.lets_go) {
                self.machine.forget(stream);
            }
        }
        assert!(self.machine.poll_notice().is_none(), "a notice that was not announced");
    }

    /// Moves what the machine has to say to the output, and takes all of it.
    pub fn transmit(&mut self) -> Vec<u8> {
        self.machine.poll_transmit(self.now, &mut self.out);
        let bytes = self.out.unsent().to_vec();
        self.out.clear();
        bytes
    }

    /// Lets the time be this.
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Takes the log.
    pub fn take_log(&mut self) -> Vec<String> {
        self.settle();
        std::mem::take(&mut self.log)
    }
}

impl<M: ProtocolMachine<Fact: Debug>> Hearer for End<M> {
    type Machine = M;

    fn machine(&mut self) -> &mut M {
        &mut self.machine
    }

    fn event(&mut self, event: Event<'_, M::Fact>) {
        if !matches!(event, Event::Data { .. }) {
            self.settle();
        }
        match event {
            Event::Head { stream, end } => {
                let head = take_head(&mut self.machine, stream);
                self.streams.push(stream);
                self.log.push(format!("head {}{}", show_head(&head), mark(end)));
            }
            Event::Interim { stream } => {
                let head = take_head(&mut self.machine, stream);
                self.log.push(format!("interim {}", show_head(&head)));
            }
            Event::HeadTooLarge { stream, end } => {
                self.streams.push(stream);
                self.log.push(format!("head too large{}", mark(end)));
            }
            Event::Data { stream, bytes, end } => self.data(stream, bytes, end),
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                self.log.push(format!("trailers{}", show_fields(&trailers)));
            }
            Event::Fact(fact) => self.log.push(format!("{fact:?}")),
            _ => panic!("an event that no driver knows"),
        }
    }

    fn step(&mut self, _: usize, _: bool) {
        self.notices();
    }
}

/// Commands.
impl<M: ProtocolMachine<Fact: Debug>> End<M> {
    /// Sends a request without fields.
    ///
    /// # Errors
    /// When it is refused.
    pub fn request(&mut self, method: &str, path: &str, end: bool) -> Result<StreamKey, SendError<M::Rule>> {
        self.request_with(method, path, &[], end)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When it is refused.
    pub fn request_with(
        &mut self,
        method: &str,
        path: &str,
        pairs: &[(&str, &str)],
        end: bool,
    ) -> Result<StreamKey, SendError<M::Rule>> {
        let (fields, scheme, authority) = (fields(pairs), "https", "a.example");
        let head = RequestHead { method, scheme, authority, path, protocol: None, fields: &fields };
        self.machine.send_request(&head, end, &mut self.out)
    }

    /// Sends a response, an interim one if the status is.
    ///
    /// # Errors
    /// When it is refused.
    pub fn respond(
        &mut self,
        stream: StreamKey,
        status: u16,
        pairs: &[(&str, &str)],
        end: bool,
    ) -> Result<(), SendError<M::Rule>> {
        let fields = fields(pairs);
        let head = ResponseHead { status: Status::new(status).expect("a good status"), fields: &fields };
        match head.status.is_interim() {
            true => self.machine.send_interim(stream, &head, &mut self.out),
            false => self.machine.send_response(stream, &head, end, &mut self.out),
        }
    }

    /// Sends content.
    ///
    /// # Errors
    /// When it is refused.
    pub fn data_out(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
    ) -> Result<usize, SendError<M::Rule>> {
        self.machine.send_data(stream, data, end, &mut self.out)
    }

    /// Sends trailers.
    ///
    /// # Errors
    /// When they are refused.
    pub fn trailers_out(
        &mut self,
        stream: StreamKey,
        pairs: &[(&str, &str)],
    ) -> Result<(), SendError<M::Rule>> {
        self.machine.send_trailers(stream, &fields(pairs), &mut self.out)
    }
}

const fn mark(end: bool) -> &'static str {
    if end { " end" } else { "" }
}

fn line_of<R: alula_machine::Rule>(notice: Notice<R>) -> String {
    match notice {
        Notice::Reset { reset, .. } => {
            let origin = match reset.origin {
                Origin::Peer => "peer".into(),
                Origin::GoAway => "goaway".into(),
                Origin::Us(rule) => format!("us: {rule}"),
            };
            let unprocessed = if reset.unprocessed { " unprocessed" } else { "" };
            format!("reset {} by {origin}{unprocessed}", reset.code)
        }
        Notice::Writable { .. } => "writable".into(),
        Notice::Room => "room".into(),
        Notice::Last(Some(farewell)) => format!("farewell {} after {}", farewell.code, farewell.last),
        Notice::Last(None) => "farewell".into(),
        other => format!("{other:?}"),
    }
}
