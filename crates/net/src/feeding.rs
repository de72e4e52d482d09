//! What comes: octets from the socket to the machine, and what it makes of them to the slots of their streams.

use alula_fields::{FieldFlags, FieldSection, Head, KnownName, ResponseHead, Status, StreamKey};
use alula_h2::{ErrorCode, Violation};

use crate::{
    date,
    error::Error,
    hand_over::Side,
    happened::Event,
    read_buf::ReadBuf,
    shared::{Accepted, Shared},
    slot::{Expectation, Sides},
};

/// What a peer of HTTP/1.1 may send ahead before reading stops.
const AHEAD_OCTETS_MAX: usize = 64 * 1024;
/// The seconds after which a client may ask again that was refused for want of memory: by then the peers that hold memory and
/// take nothing have been looked at ([`Limits::body_rate_grace`](alula_fields::Limits::body_rate_grace) is as long by default).
const RETRY_AFTER: &[u8] = b"5";

impl Shared {
    /// Handles what the peer sent: decrypts it, feeds the machine, and notes whom to wake.
    pub(crate) fn feed(&mut self) {
        if let Err(error) = self.try_feed().and_then(|()| self.tell_end()) {
            self.take_notices();
            self.end(error);
        }
        self.take_notices();
        self.settle_memory();
    }

    #[cfg(feature = "tls")]
    fn try_feed(&mut self) -> Result<(), Error> {
        if self.tls.is_some() && (self.plain.capacity() == 0 || !self.input.is_empty()) {
            let plain = std::mem::take(&mut self.plain);
            self.plain = self.widened(plain);
        }
        let Some(tls) = &mut self.tls else {
            return self.feed_input();
        };
        let closed = tls.decrypt(self.input.unread(), &mut self.plain)?;
        self.input.consume(self.input.unread().len());
        std::mem::swap(&mut self.input, &mut self.plain);
        self.is_input_over |= closed;
        let fed = self.feed_input();
        std::mem::swap(&mut self.input, &mut self.plain);
        fed
    }

    #[cfg(not(feature = "tls"))]
    fn try_feed(&mut self) -> Result<(), Error> {
        self.feed_input()
    }

    fn feed_input(&mut self) -> Result<(), Error> {
        let mut input = std::mem::take(&mut self.input);
        self.heard += u64::from(!input.unread().is_empty());
        self.copied = None;
        let result = loop {
            match self.machine.receive(input.unread(), self.now) {
                Ok((consumed, event)) => {
                    let idle = event.is_none();
                    if let Some(event) = event {
                        self.on_event(event, &input);
                    }
                    input.consume(consumed);
                    if (idle && consumed == 0) || self.machine.rests(input.unread()) {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.is_gated = self.machine.is_holding() && (self.is_input_over || !input.unread().is_empty());
        self.input = input;
        if self.claim.is_some() {
            self.hand_over_input();
        }
        result
    }

    /// Tells the machine that nothing more comes, once it has taken all that came.
    fn tell_end(&mut self) -> Result<(), Error> {
        if !self.is_input_over || self.is_gated || self.is_end_told {
            return Ok(());
        }
        self.tell_end_now()
    }

    #[cold]
    fn tell_end_now(&mut self) -> Result<(), Error> {
        self.is_end_told = true;
        if let Some(event) = self.machine.receive_end(self.is_truncated, self.now)? {
            self.on_event(event, &ReadBuf::default());
        }
        Ok(())
    }

    /// The peer has closed its side. Where a write was told of a reset, that is what it was: the system tells of it once, and
    /// then of a plain end.
    pub(crate) fn input_ended(&mut self) {
        self.is_input_over = true;
        #[cfg(feature = "tls")]
        {
            self.is_truncated = self.tls.is_some();
        }
        match &self.output_failure {
            Some(error) if error.is_reset() => self.input_failed(error.clone()),
            _ => self.feed(),
        }
        self.end_if_cut();
    }

    /// The connection broke. On one that had been used before, the request may have met its end.
    pub(crate) fn input_failed(&mut self, error: Error) {
        self.is_input_over = true;
        self.end(if self.machine.is_unanswered() { error.unanswered() } else { error });
    }

    /// Returns true if octets that the machine has left are taken now.
    #[inline]
    pub(crate) fn goes_on(&self) -> bool {
        self.is_gated && self.machine.can_go_on() && !self.output_is_full() && self.ended.is_none()
    }

    /// Returns true if the socket is to be read.
    #[inline]
    pub(crate) fn wants_read(&self) -> bool {
        self.machine.wants_read() && !self.is_input_over && !(self.is_gated && self.is_much_left())
    }

    /// Returns true if a peer has sent so much ahead that it can wait.
    fn is_much_left(&self) -> bool {
        #[cfg(feature = "tls")]
        let plain = self.plain.unread().len();
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        self.input.unread().len() + plain >= AHEAD_OCTETS_MAX
    }

    /// Gives octets back. If that is what was waited for, the task of a server reads on, and a client's connection is free again.
    pub(crate) fn release_capacity(&mut self, stream: StreamKey, octets: u32) {
        if !self.machine.release_capacity(stream, octets) {
            return;
        }
        match self.machine.is_client() {
            true => self.is_free_again(),
            false => self.wake_task(),
        }
    }

    #[inline]
    fn on_event(&mut self, event: Event<'_>, input: &ReadBuf) {
        match event {
            Event::Head { stream, end } => self.on_head(stream, end),
            Event::Data { stream, bytes, end } => self.on_data(stream, bytes, end, input),
            Event::Trailers { stream } => self.on_trailers(stream),
            Event::HeadTooLarge { stream } => self.on_head_too_large(stream),
            Event::Interim { stream } => self.on_interim(stream),
            Event::Other => {}
        }
    }

    fn on_head(&mut self, stream: StreamKey, end: bool) {
        let spare = self.heads.pop();
        let Some(head) = self.machine.take_head(stream, spare) else { return };
        if !self.machine.is_client() {
            if self.ledger.is_overloaded() {
                return self.refuse(stream, head);
            }
            let at = self.attach(stream);
            let slot = &mut self.slots[at.index as usize];
            slot.ended = end;
            slot.head_octets = self.held.head_came(&head);
            if !end && head.fields.expects_continue() {
                slot.expectation = Expectation::Waiting;
            }
            self.accepted.push(Accepted { at, head, ended: end });
            return;
        }
        match self.of_stream(stream) {
            Some((index, slot)) => {
                slot.head = Some(head);
                slot.ended = end;
                self.wake_later(index, Side::Read);
                // The rest of the request may not be wanted any more.
                self.wake_later(index, Side::Write);
            }
            None => self.heads.give(head),
        }
    }

    /// Refuses a request for want of memory, before it costs more of it.
    #[cold]
    fn refuse(&mut self, stream: StreamKey, request: Box<Head>) {
        self.heads.give(request);
        self.note_overload();
        if !self.machine.is_http1() {
            // The client may send it again, whatever its method is (RFC 9113 §8.7).
            self.machine.reset(stream, ErrorCode::REFUSED_STREAM);
            return;
        }
        let mut answer = self.heads.lend();
        answer.fields.push_known(KnownName::DATE, &date::now(), FieldFlags::NONE);
        answer.fields.push_known(KnownName::RETRY_AFTER, RETRY_AFTER, FieldFlags::NONE);
        let head = ResponseHead { status: Status::SERVICE_UNAVAILABLE, fields: &answer.fields };
        // A stream that is gone already needs no answer.
        let _ = self.machine.send_response(stream, &head, true, &mut self.out);
        self.machine.forget(stream);
        self.heads.give(answer);
    }

    /// An interim response: the one that is waited for tells a client to send its content (RFC 9110 §10.1.1). Others are dropped,
    /// unless somebody wants to hear of them; how many there may be is bounded by the machines.
    fn on_interim(&mut self, stream: StreamKey) {
        let spare = self.heads.pop();
        let Some(mut head) = self.machine.take_head(stream, spare) else { return };
        if let Some((index, slot)) = self.of_stream(stream) {
            slot.is_told_to_go_on |= head.status() == Some(Status::CONTINUE);
            let is_kept = slot.keeps_interim || !slot.is_awaited;
            let kept = is_kept.then(|| slot.interim.push_back(std::mem::take(&mut head)));
            self.wake_later(index, Side::Read);
            if kept.is_some() {
                return;
            }
        }
        self.heads.give(head);
    }

    /// A request with more fields than we take is answered 431 (RFC 6585 §5) and not looked at any more.
    fn on_head_too_large(&mut self, stream: StreamKey) {
        let mut fields = FieldSection::new();
        fields.push_known(KnownName::DATE, &date::now(), FieldFlags::NONE);
        let head = ResponseHead { status: Status::REQUEST_HEADER_FIELDS_TOO_LARGE, fields: &fields };
        self.note_breach(Violation::FIELDS_TOO_LARGE);
        // A stream that is gone already needs no answer.
        let _ = self.machine.send_response(stream, &head, true, &mut self.out);
        self.machine.forget(stream);
    }

    fn on_data(&mut self, stream: StreamKey, bytes: &[u8], end: bool, input: &ReadBuf) {
        match self.of_stream(stream) {
            Some((index, slot)) if slot.held.has(Sides::READ) => {
                slot.ended |= end;
                slot.received += bytes.len() as u64;
                // What has come need not be asked for.
                slot.expectation = Expectation::None;
                if !self.claims(index, bytes, input) {
                    self.store(index, bytes, input);
                }
                self.wake_later(index, Side::Read);
            }
            _ => self.release_capacity(stream, bytes.len() as u32),
        }
    }

    /// Copies content to the slot that it is for.
    #[inline]
    fn store(&mut self, index: u32, bytes: &[u8], input: &ReadBuf) {
        if bytes.is_empty() {
            return;
        }
        if self.slots[index as usize].content.is_empty() {
            self.copied = Some((index, input.place_of(bytes)));
        }
        if self.slots[index as usize].content.capacity() == 0 {
            self.slots[index as usize].content = self.lend_content();
        }
        let grown = self.slots[index as usize].content.append(bytes, self.held.is_tight());
        self.held.content_grew(grown);
    }

    fn on_trailers(&mut self, stream: StreamKey) {
        let mut head = self.heads.lend();
        let taken = self.machine.take_trailers(stream, &mut head.fields);
        match self.of_stream(stream) {
            Some((index, slot)) if taken => {
                slot.trailers = Some(head);
                slot.ended = true;
                self.wake_later(index, Side::Read);
            }
            _ => self.heads.give(head),
        }
    }
}
