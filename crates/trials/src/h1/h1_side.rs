//! One end of a connection between two machines of HTTP/1.1, and what its driver knows of each message.

use alula_driven::{Hearer, feed, take_head, take_trailers};
use alula_fields::FieldSection;
use alula_h1::{Connection, Event, Notice, StreamKey};
use alula_machine::{OutBuf, Time};

/// A message as one side sent it, or as the other has it so far.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Message {
    /// The path of a request, the status of a response.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
    pub(crate) has_trailers: bool,
    pub(crate) is_whole: bool,
}

impl Message {
    pub(crate) fn begun(name: String, is_whole: bool) -> Self {
        Self { name, is_whole, ..Self::default() }
    }
}

/// How a message that is being sent ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Ending {
    /// After so many bytes.
    Length(usize),
    Chunks,
    Trailers,
    #[default]
    Nothing,
}

pub(crate) struct Side {
    pub(crate) machine: Connection,
    pub(crate) out: OutBuf,
    input: Vec<u8>,
    /// The exchange under way, as far as this side knows of it.
    pub(crate) stream: Option<StreamKey>,
    pub(crate) sent: Vec<Message>,
    pub(crate) received: Vec<Message>,
    /// The number of interim responses that were heard.
    pub(crate) interim: usize,
    pub(crate) ending: Ending,
    /// The rest of what comes is not wanted.
    pub(crate) has_given_up: bool,
    has_heard_end: bool,
    bytes_sent: usize,
}

impl Side {
    pub(crate) fn new(machine: Connection) -> Self {
        Self {
            machine,
            out: OutBuf::new(),
            input: Vec::new(),
            stream: None,
            sent: Vec::new(),
            received: Vec::new(),
            interim: 0,
            ending: Ending::Nothing,
            has_given_up: false,
            has_heard_end: false,
            bytes_sent: 0,
        }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8], now: Time) {
        let mut input = std::mem::take(&mut self.input);
        // The machine keeps the error.
        let _ = feed(self, &mut input, bytes, now);
        self.input = input;
        self.notices();
    }

    pub(crate) fn receive_end(&mut self, now: Time) {
        if !std::mem::replace(&mut self.has_heard_end, true)
            && let Ok(Some(event)) = self.machine.receive_end(now)
        {
            self.event(event);
        }
        self.notices();
    }

    pub(crate) fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            let has_room = self.machine.is_idle() || self.machine.error().is_some();
            assert!(notice != Notice::Room || has_room, "there is no room");
        }
        self.machine.check_invariants();
    }

    /// Sends so much of what is to be sent, or less, and perhaps its end.
    pub(crate) fn send(&mut self, len: usize, is_last: bool) {
        let stream = self.stream.filter(|stream| self.machine.has_sent_all(*stream) == Some(false));
        let Some(stream) = stream else { return };
        if self.ending == Ending::Nothing || self.machine.error().is_some() {
            return;
        }
        let (len, end) = match self.ending {
            Ending::Length(left) if is_last => (left, true),
            Ending::Length(left) => (len.min(left), len >= left),
            _ => (len, is_last),
        };
        let bytes: Vec<u8> =
            (self.bytes_sent..self.bytes_sent + len).map(|at| ((at * 7) >> 3) as u8).collect();
        self.bytes_sent += len;
        let has_trailers = end && self.ending == Ending::Trailers;
        let sent = self.machine.send_data(stream, &bytes, end && !has_trailers, &mut self.out);
        assert_eq!(sent, Ok(len));
        if has_trailers {
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "1").expect("a good field");
            self.machine.send_trailers(stream, &trailers, &mut self.out).expect("chunks have trailers");
        }
        self.sent_some(&bytes, end, has_trailers);
    }

    fn sent_some(&mut self, bytes: &[u8], end: bool, has_trailers: bool) {
        if let Ending::Length(left) = &mut self.ending {
            *left -= bytes.len();
        }
        let message = self.sent.last_mut().expect("a head goes before");
        message.content.extend_from_slice(bytes);
        (message.has_trailers, message.is_whole) = (has_trailers, end);
        if end {
            self.ending = Ending::Nothing;
        }
        self.notices();
    }

    /// Nothing is under way, and all of it is out.
    pub(crate) fn has_ended(&self) -> bool {
        let is_done = self.machine.is_idle() || self.machine.is_closed();
        is_done && self.out.is_empty() && !self.machine.wants_write()
    }
}

impl Hearer for Side {
    type Machine = Connection;

    fn machine(&mut self) -> &mut Connection {
        &mut self.machine
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => {
                let head = take_head(&mut self.machine, stream);
                let status = head.status().map(|status| status.as_u16().to_string());
                let name = status.or(head.path().map(String::from)).unwrap_or_default();
                (self.stream, self.has_given_up) = (Some(stream), false);
                self.received.push(Message::begun(name, end));
            }
            Event::Interim { stream } => {
                take_head(&mut self.machine, stream);
                self.interim += 1;
            }
            Event::Data { bytes, end, .. } => {
                assert!(!self.has_given_up, "nobody wants this");
                self.machine.release_capacity(bytes.len() as u32);
                let message = self.received.last_mut().expect("a head comes before");
                message.content.extend_from_slice(bytes);
                message.is_whole = end;
            }
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                let message = self.received.last_mut().expect("a head comes before");
                message.has_trailers = trailers.get("x-sum") == Some(b"1");
                message.is_whole = true;
            }
            _ => {}
        }
    }

    fn step(&mut self, _: usize, _: bool) {
        self.notices();
    }
}
