//! Receiving: bytes go from the socket to the machine, and its events to the slots of the streams.

use alula_fields::{Decimal, FieldFlags, FieldSection, Head, KnownName, ResponseHead, Status};
use alula_h2::Violation;
use alula_machine::{Event, Reason, StreamKey};

use crate::{
    connection::{
        Connection,
        claim::BEGIN_BYTES,
        inbox::Accepted,
        stream::slot::{Expectation, Sides, SlotKey},
    },
    drive::reader::Side,
    error::{Error, limit::Overrun},
    message::date,
    transport::read_buf::ReadBuf,
};

/// The `retry-after`, in seconds, for requests that were refused for want of memory: most requests under way
/// have ended by then. Peers that hold memory and take nothing have
/// [`Limits::body_rate_grace`](alula_machine::Limits::body_rate_grace).
const RETRY_AFTER: &[u8] = b"5";

/// Input: decryption, feeding the machine, and the end.
impl Connection {
    /// Processes received bytes: decrypts them, feeds the machine, and collects the callers to wake.
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
        let Some(tls) = &mut self.tls else { return self.feed_input() };
        let (encrypted, plain) = self.input.begin_to_decrypt(&mut self.spares);
        if tls.note_read(encrypted.unread().len()) {
            self.held.note_change();
        }
        let closed = tls.decrypt(encrypted.unread(), plain)?;
        encrypted.consume(encrypted.unread().len());
        if closed {
            self.input.close(false);
        }
        self.input.swap_plain();
        let fed = self.feed_input();
        self.input.swap_plain();
        fed
    }

    #[cfg(not(feature = "tls"))]
    fn try_feed(&mut self) -> Result<(), Error> {
        self.feed_input()
    }

    fn feed_input(&mut self) -> Result<(), Error> {
        let mut input = self.input.take();
        if !input.unread().is_empty() {
            self.heard += 1;
            // Any bytes show that a peer that was asked whether it is there is alive.
            if !self.life.takes_streams() {
                self.peer_has_answered();
            }
            self.need_kit();
            self.need_head();
            if self.first_head.is_watched() {
                self.look_at_first_head();
            }
        }
        self.claims.begin_input();
        self.fed += input.unread().len() as u64;
        let result = loop {
            match self.machine.receive(input.unread(), self.now) {
                Ok((consumed, event)) => {
                    let idle = event.is_none();
                    if let Some(event) = event {
                        self.on_event(event, &input);
                    }
                    input.consume(consumed);
                    // Pipelined requests stay unread here until the answer before them is complete.
                    if (idle && consumed == 0) || self.machine.rests(input.unread()) {
                        break Ok(());
                    }
                    // The head that was read has been taken: the next one goes into one that was used before.
                    self.need_head();
                }
                Err(error) => break Err(error),
            }
        };
        self.fed -= input.unread().len() as u64;
        self.input.hold_back(self.machine.is_holding(), &input);
        self.input.put(input);
        // The content is so large that the whole buffer passes to its stream instead of being copied.
        if self.claims.slot().is_some() {
            self.hand_over_input();
        }
        result
    }

    /// Bounds the heads of a connection that has had no answer yet, while memory is scarce.
    #[cold]
    fn look_at_first_head(&mut self) {
        if let Some(bytes) = self.first_head.look(self.ledger.memory.is_crowded()) {
            self.machine.bound_heads(bytes);
        }
    }

    /// Gives the input to the stream that has claimed it.
    #[cold]
    fn hand_over_input(&mut self) {
        let memory = self.input.hand_over(&mut self.spares);
        let is_tight = self.held.is_tight();
        let Some((slot, content)) = self.claims.settle(memory, is_tight, &mut self.spares) else { return };
        self.held.content_grew(content.capacity());
        let before = std::mem::replace(self.slots[slot].incoming.content_mut(), content);
        self.give_content(before);
    }

    /// Tells the machine that nothing more comes, once it has taken all that came.
    fn tell_end(&mut self) -> Result<(), Error> {
        if self.input.is_end_untold() { self.tell_end_now() } else { Ok(()) }
    }

    #[cold]
    fn tell_end_now(&mut self) -> Result<(), Error> {
        let is_truncated = self.input.tell_end();
        if let Some(event) = self.machine.receive_end(is_truncated, self.now)? {
            self.on_event(event, &ReadBuf::default());
        }
        Ok(())
    }

    /// Handles the end of the input. If a write has met a reset, or a timeout of TCP, the connection has
    /// failed by that: the system reports it once, and then a plain end.
    pub(crate) fn input_ended(&mut self) {
        self.input.close(self.is_secure());
        match self.output.failure() {
            // The system reports a reset once; if the write has met it, the read sees a plain end.
            Some(error) if error.is_told_once() => self.input_failed(error.clone()),
            _ => self.feed(),
        }
        self.end_if_cut();
    }

    /// Handles a broken connection. On one that had been used before, the request may have met its end.
    pub(crate) fn input_failed(&mut self, error: Error) {
        self.input.close(false);
        self.end(if self.machine.is_unanswered() { error.unanswered() } else { error });
    }

    /// Ends the connection if the peer has closed its side too early; a peer of HTTP/1.1 may close it and go
    /// on to read (RFC 9112 §9.6). One that takes no more either is gone.
    pub(crate) fn end_if_cut(&mut self) {
        if let (Some(error), true) = (self.output.failure(), self.input.is_over()) {
            self.end(error.clone());
        }
    }

    /// Ends the connection because the client has closed its side, and so has left the request that is being
    /// answered.
    #[cold]
    pub(crate) fn peer_left(&mut self) {
        self.end(Error::client_left());
        // An answer whose end is the close would look complete if the connection were not closed by a
        // failure.
        self.machine.close(Reason::Cancelled);
    }

    /// Returns true if the machine takes now the bytes that it had left.
    #[inline]
    pub(crate) fn goes_on(&self) -> bool {
        self.input.is_held_back()
            && self.machine.can_go_on()
            && !self.output_is_full()
            && !self.life.has_ended()
    }

    /// Returns true if the socket should be read.
    #[inline]
    pub(crate) fn wants_read(&self) -> bool {
        self.machine.wants_read() && self.input.takes_more()
    }

    /// Takes the buffer to read into, and returns the room to ask it for.
    #[inline(always)]
    pub(crate) fn take_input(&mut self) -> (ReadBuf, usize) {
        (self.input.take_to_fill(&mut self.spares), self.input.read_step())
    }

    /// Puts the buffer back after a read that found nothing, at the end of a poll.
    #[inline]
    pub(crate) fn put_unfilled_input(&mut self, input: ReadBuf) {
        self.input.put_unfilled(input);
        self.stow_input();
    }

    /// Gives back the buffers that this thread has lent, at the end of a poll.
    #[inline]
    pub(crate) fn stow_input(&mut self) {
        if self.input.is_wide() && self.input.stow() {
            self.settle_memory();
        }
    }

    /// Does the same as [`Self::stow_input`] in the usual case: one buffer in hand and nothing unread.
    #[inline(always)]
    pub(crate) fn stow_usual_input(&mut self) {
        self.input.give_back_used();
        self.stow_input();
    }

    /// Gives bytes that the program has taken back to the peer's windows.
    pub(crate) fn give_back(&mut self, at: SlotKey, bytes: u32) {
        if bytes > 0
            && let Some(stream) = self.slots.get(at).and_then(|slot| slot.stream)
        {
            self.release_capacity(stream, bytes);
        }
    }

    /// Gives bytes back. If that is what was waited for, the task of a server reads on, and a client's
    /// connection is free again.
    pub(crate) fn release_capacity(&mut self, stream: StreamKey, bytes: u32) {
        if !self.machine.release_capacity(stream, bytes) {
            return;
        }
        match self.machine.is_client() {
            true => self.is_free_again(),
            false => self.wake_task(),
        }
    }
}

/// The events of the machine.
impl Connection {
    #[inline]
    fn on_event(&mut self, event: Event<'_>, input: &ReadBuf) {
        match event {
            Event::Head { stream, end } => self.on_head(stream, end),
            Event::Data { stream, bytes, end } => self.on_data(stream, bytes, end, input),
            Event::Trailers { stream } => self.on_trailers(stream),
            Event::HeadTooLarge { stream, .. } => self.on_head_too_large(stream),
            Event::Interim { stream } => self.on_interim(stream),
            _ => {}
        }
    }

    fn on_head(&mut self, stream: StreamKey, end: bool) {
        let Some(head) = self.machine.take_head(stream) else { return };
        if !self.machine.is_client() {
            // Only while memory is scarce is a request weighed before a handler runs.
            if self.ledger.memory.is_crowded()
                && let Some(limit) = self.shortage()
            {
                return self.refuse(stream, head, limit);
            }
            let at = self.attach(stream);
            let slot = &mut self.slots[at.index];
            slot.incoming.request_came(self.held.head_came(&head), end);
            // The 100 is sent when a handler asks for the content, not before (RFC 9110 §10.1.1).
            if !end && head.fields.expects_continue() {
                slot.expectation = Expectation::Waiting;
            }
            self.inbox.accept(Accepted { at, head, ended: end });
            return;
        }
        match self.slots.of_stream(stream) {
            Some((index, slot)) => {
                let bytes = self.held.head_came(&head);
                slot.incoming.response_came(head, bytes, end);
                // The rest of the request may not be wanted any more.
                self.wake_both(index);
            }
            None => self.spares.give_head(head),
        }
    }

    /// Lends the machine a head to read into, if it has none. It keeps none for streams that are over: as
    /// many are made as messages are held at once, and one more.
    #[inline]
    fn need_head(&mut self) {
        if self.machine.needs_head() {
            self.machine.read_into(self.spares.lend_head());
        }
    }

    /// Refuses a request for want of memory, before it costs more of it.
    #[cold]
    fn refuse(&mut self, stream: StreamKey, request: Box<Head>, limit: Overrun) {
        self.tell_held();
        self.note_overload(limit, request);
        if !self.machine.is_http1() {
            // The client may send it again, whatever its method is (RFC 9113 §8.7).
            self.machine.reset(stream, Reason::Refused);
            return;
        }
        let mut answer = self.spares.lend_head();
        answer.fields.push_known(KnownName::DATE, &date::now(), FieldFlags::NONE);
        answer.fields.push_known(KnownName::RETRY_AFTER, RETRY_AFTER, FieldFlags::NONE);
        let head = ResponseHead { status: Status::SERVICE_UNAVAILABLE, fields: &answer.fields };
        // A stream that is gone already needs no answer.
        let _ = self.machine.send_response(stream, &head, true, self.output.buffer());
        self.machine.forget(stream);
        self.spares.give_head(answer);
    }

    /// Handles an interim response: 100 tells a waiting client to send its content (RFC 9110 §10.1.1). Others
    /// are dropped, unless somebody wants to hear of them; how many there may be is bounded by the machines.
    fn on_interim(&mut self, stream: StreamKey) {
        let Some(head) = self.machine.take_head(stream) else { return };
        if let Some((index, slot)) = self.slots.of_stream(stream) {
            slot.is_told_to_go_on |= head.status() == Some(Status::CONTINUE);
            let unwanted = slot.incoming.interim_came(head);
            self.wake_later(index, Side::Read);
            unwanted.into_iter().for_each(|head| self.spares.give_head(head));
            return;
        }
        self.spares.give_head(head);
    }

    /// Answers 431 to a request with more fields than are taken (RFC 6585 §5), and reads no more of it. The
    /// answer says which limit it is, unless it is to HEAD, or the client takes no content now.
    #[cold]
    fn on_head_too_large(&mut self, stream: StreamKey) {
        let limit = self.machine.exceeded().map_or("", |exceeded| exceeded.limit());
        let request = self.machine.take_refused_head();
        let is_head = request.as_ref().and_then(|head| head.method()) == Some("HEAD");
        self.note_breach_of(Violation::FIELDS_TOO_LARGE, request);
        let text = text_of_large_head(limit);
        let has_text = !is_head && self.machine.await_capacity(stream) >= text.len();
        let mut fields = FieldSection::new();
        fields.push_known(KnownName::DATE, &date::now(), FieldFlags::NONE);
        if has_text {
            fields.push_known(KnownName::CONTENT_TYPE, b"text/plain", FieldFlags::NONE);
            fields.push_known(
                KnownName::CONTENT_LENGTH,
                Decimal::of(text.len() as u64).as_bytes(),
                FieldFlags::NONE,
            );
        }
        let head = ResponseHead { status: Status::REQUEST_HEADER_FIELDS_TOO_LARGE, fields: &fields };
        // A stream that is gone already needs no answer.
        let sent = self.machine.send_response(stream, &head, !has_text, self.output.buffer());
        if has_text && sent.is_ok() {
            let _ = self.machine.send_data(stream, text.as_bytes(), true, self.output.buffer());
        }
        self.machine.forget(stream);
    }

    fn on_data(&mut self, stream: StreamKey, bytes: &[u8], end: bool, input: &ReadBuf) {
        match self.slots.of_stream(stream) {
            Some((index, slot)) if slot.held.has(Sides::READ) => {
                slot.incoming.content_came(end);
                slot.counts.receive(bytes.len());
                // Content that has come need not be asked for.
                slot.expectation = Expectation::None;
                if !self.claims(index, bytes, input) {
                    self.store(index, bytes, input);
                }
                self.wake_later(index, Side::Read);
                if end {
                    self.message_is_whole(index);
                }
            }
            _ => self.release_capacity(stream, bytes.len() as u32),
        }
    }

    /// Handles the end of the peer's message. On a client nobody waits for the rest of the request: its
    /// writer may stop.
    #[inline]
    fn message_is_whole(&mut self, index: u32) {
        if self.machine.is_client() {
            self.wake_later(index, Side::Write);
        }
    }

    /// Returns true if this slot gets content in the memory of the input; false if the content has to be
    /// copied.
    #[inline]
    fn claims(&mut self, slot: u32, bytes: &[u8], input: &ReadBuf) -> bool {
        match self.claims.slot() {
            None => bytes.len() >= BEGIN_BYTES && self.begin_claim(slot, bytes, input),
            Some(of) if of == slot => {
                self.claims.add(bytes, input);
                true
            }
            Some(_) => false,
        }
    }

    fn begin_claim(&mut self, slot: u32, bytes: &[u8], input: &ReadBuf) -> bool {
        if self.held.is_tight() {
            return false;
        }
        let (content, place) = (self.slots[slot].incoming.content_mut(), input.place_of(bytes));
        let Some(copy) = self.claims.begin(slot, content, place, &mut self.spares) else { return false };
        self.give_content(copy);
        true
    }

    /// Copies content to the slot that it is for.
    #[inline]
    fn store(&mut self, slot: u32, bytes: &[u8], input: &ReadBuf) {
        if bytes.is_empty() {
            return;
        }
        let content = self.slots[slot].incoming.content_mut();
        if content.is_empty() {
            self.claims.note_copied(slot, input.place_of(bytes));
        }
        if content.capacity() == 0 {
            *content = self.spares.lend_content();
        }
        let grown = content.append(bytes, self.held.is_tight());
        self.held.content_grew(grown);
    }

    fn on_trailers(&mut self, stream: StreamKey) {
        let mut head = self.spares.lend_head();
        let taken = self.machine.take_trailers(stream, &mut head.fields);
        match self.slots.of_stream(stream) {
            Some((index, slot)) if taken => {
                slot.incoming.trailers_came(head);
                self.wake_later(index, Side::Read);
                self.message_is_whole(index);
            }
            _ => self.spares.give_head(head),
        }
    }
}

/// Returns the content of the answer to a head that is over this limit.
#[cold]
fn text_of_large_head(limit: &str) -> String {
    match limit {
        "first_head_bytes" => {
            "Much of the memory is in use: the head of the first request of a connection is longer than \
            first_head_bytes allows until a request of the connection was answered.\n"
                .to_owned()
        }
        limit => format!("The head of the request is larger than {limit} allows (RFC 6585).\n"),
    }
}
