//! One end of a connection between two machines, and what its driver knows of each stream.

use std::collections::BTreeMap;

use alula_driven::{Hearer, feed, take_head, take_trailers};
use alula_fields::FieldSection;
use alula_h2::{Connection, Event, Notice, StreamKey};
use alula_machine::{OutBuf, Time};

use crate::input::Input;

/// What a driver knows of one stream.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) id: u32,
    pub(crate) has_head_sent: bool,
    to_send: usize,
    has_ended: bool,
    received: usize,
    unreleased: usize,
    /// It was reset, and is still to be let go of.
    pub(crate) is_over: bool,
}

impl Flow {
    /// A request that was sent.
    pub(crate) fn asked(id: u32) -> Self {
        Self { id, has_head_sent: true, ..Self::default() }
    }

    /// Returns true if content may follow.
    pub(crate) fn is_sending(&self) -> bool {
        self.has_head_sent && !self.has_ended && !self.is_over
    }
}

pub(crate) struct Side {
    pub(crate) machine: Connection,
    pub(crate) out: OutBuf,
    pub(crate) flows: BTreeMap<StreamKey, Flow>,
    /// Bytes received on streams whose other half has ended, by identifier.
    pub(crate) received: BTreeMap<u32, usize>,
    /// Bytes sent on streams whose half here has ended, by identifier.
    pub(crate) sent: BTreeMap<u32, usize>,
    /// True if the peer may have been made to say anything: then it may break every rule, and content may be
    /// any.
    pub(crate) is_damaged: bool,
    trailers: FieldSection,
}

/// The byte at a place of a stream's content: different for each stream.
fn byte(id: u32, at: usize) -> u8 {
    (id as usize * 7 + at) as u8
}

impl Side {
    pub(crate) fn new(machine: Connection) -> Self {
        let mut trailers = FieldSection::new();
        trailers.append("x-sum", "1").expect("a good field");
        Self {
            machine,
            out: OutBuf::new(),
            flows: BTreeMap::new(),
            received: BTreeMap::new(),
            sent: BTreeMap::new(),
            is_damaged: false,
            trailers,
        }
    }

    /// A stream that is known, by the order of identifiers.
    pub(crate) fn any(&self, input: &mut Input<'_>) -> Option<StreamKey> {
        let mut keys: Vec<StreamKey> = self.flows.keys().copied().collect();
        keys.sort_by_key(|key| self.flows[key].id);
        let choice = input.below(keys.len());
        keys.get(choice).copied()
    }

    pub(crate) fn receive(&mut self, bytes: &[u8], now: Time) {
        let mut unused = Vec::new();
        // The machine keeps the error.
        let _ = feed(self, &mut unused, bytes, now);
        assert!(unused.is_empty() || self.machine.error().is_some());
        self.notices();
    }

    fn head(&mut self, stream: StreamKey, end: bool) {
        let id = self.machine.stream_id(stream);
        let head = take_head(&mut self.machine, stream);
        let flow = self.flows.entry(stream).or_default();
        flow.id = id.unwrap_or(flow.id);
        if !self.is_damaged && !self.machine.is_client() {
            assert_eq!(head.path(), Some(&*format!("/{}", flow.id)), "each stream has its own head");
        }
        self.end_if(stream, end);
    }

    fn end_if(&mut self, stream: StreamKey, end: bool) {
        if end {
            let flow = &self.flows[&stream];
            self.received.insert(flow.id, flow.received);
            self.drop_if_over(stream);
        }
    }

    /// A stream that has ended both ways, and of which everything was given back, is gone.
    fn drop_if_over(&mut self, stream: StreamKey) {
        if self.machine.stream_id(stream).is_none() {
            self.flows.remove(&stream);
        }
    }

    pub(crate) fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            match notice {
                Notice::Reset { stream, .. } => {
                    self.flows.get_mut(&stream).expect("only known streams are reset").is_over = true;
                }
                Notice::Writable { stream } => assert!(self.machine.send_capacity(stream) > 0),
                Notice::Closed(error) => assert!(self.is_damaged, "{error}"),
                _ => {}
            }
        }
    }

    pub(crate) fn release(&mut self, stream: StreamKey, bytes: usize) {
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        let bytes = bytes.min(flow.unreleased);
        flow.unreleased -= bytes;
        self.machine.release_capacity(stream, bytes as u32).expect("a stream that is known");
        self.drop_if_over(stream);
    }

    pub(crate) fn send(&mut self, stream: StreamKey, len: usize, end: bool) {
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        let data: Vec<u8> = (0..len).map(|at| byte(flow.id, flow.to_send + at)).collect();
        let (before, capacity) = (self.out.len(), self.machine.send_capacity(stream));
        let sent = self.machine.send_data(stream, &data, end, &mut self.out);
        assert!(self.is_damaged || sent.is_ok() == flow.is_sending(), "{sent:?}");
        let Ok(taken) = sent else { return assert_eq!(self.out.len(), before) };
        assert_eq!(taken, len.min(capacity));
        flow.to_send += taken;
        if end && taken == len {
            self.end_here(stream);
        }
    }

    pub(crate) fn send_trailers(&mut self, stream: StreamKey) {
        if self.machine.send_trailers(stream, &self.trailers, &mut self.out).is_ok() {
            self.end_here(stream);
        }
    }

    fn end_here(&mut self, stream: StreamKey) {
        if let Some(flow) = self.flows.get_mut(&stream) {
            flow.has_ended = true;
            self.sent.insert(flow.id, flow.to_send);
        }
        self.drop_if_over(stream);
    }

    pub(crate) fn give_up(&mut self, stream: StreamKey) {
        self.machine.forget(stream);
        self.flows.remove(&stream);
    }

    /// Lets go of streams that were reset, as somebody must.
    pub(crate) fn tidy(&mut self) {
        let over: Vec<StreamKey> =
            self.flows.iter().filter(|(_, flow)| flow.is_over).map(|(key, _)| *key).collect();
        over.into_iter().for_each(|stream| self.give_up(stream));
    }
}

impl Hearer for Side {
    type Machine = Connection;

    fn machine(&mut self) -> &mut Connection {
        &mut self.machine
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => self.head(stream, end),
            Event::HeadTooLarge { stream, .. } => {
                assert!(self.is_damaged, "small heads only");
                self.machine.forget(stream);
            }
            Event::Data { stream, bytes, end } => {
                let flow = self.flows.get_mut(&stream).expect("a stream that is not known has no content");
                let expected = (0..bytes.len()).map(|at| byte(flow.id, flow.received + at));
                assert!(self.is_damaged || expected.eq(bytes.iter().copied()), "stream {}", flow.id);
                flow.received += bytes.len();
                flow.unreleased += bytes.len();
                self.end_if(stream, end);
            }
            Event::Trailers { stream } => {
                let trailers = take_trailers(&mut self.machine, stream);
                assert!(self.is_damaged || trailers == self.trailers);
                self.end_if(stream, true);
            }
            Event::Interim { stream } => {
                take_head(&mut self.machine, stream);
            }
            _ => {}
        }
    }

    fn step(&mut self, _: usize, _: bool) {}
}
