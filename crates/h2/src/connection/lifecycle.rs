//! The opening and closing of streams, and the end of a connection.

use alula_machine::{Exceeded, StreamKey, Time};

use super::Connection;
use super::notices::Breach;
use crate::error::{ConnectionError, SendError};
use crate::event::{Farewell, Notice, Origin, Reset};
use crate::frame::error_code::ErrorCode;
use crate::frame::{MAX_31, goaway, rst_stream};
use crate::guard::violation::{Scope, Violation};
use crate::stream::Stream;
use crate::stream::absent::{Absent, Frame, Verdict};
use crate::stream::closed_ids::Closed;
use crate::stream::state::State;
use crate::stream::streams::Queue;

/// Commands that end streams or the connection, and the consequences of frames for closed streams.
impl Connection {
    /// Resets a stream and gives its key up. RST_STREAM is sent unless the stream has closed already; DATA
    /// that was received and not given back is (RFC 9113 §5.4.2). A key that is gone is none of our business:
    /// nothing happens.
    pub fn reset(&mut self, stream: StreamKey, code: ErrorCode) {
        let Some(entry) = self.streams.get_mut(stream) else { return };
        let held = entry.window_in.held();
        entry.window_in.release(held);
        let (id, before) = (entry.id, entry.state);
        if before.is_open() {
            self.queue(&rst_stream(id, code));
        }
        if before.is_draining() {
            self.draining.end(stream);
        }
        self.end_stream(stream, before.let_go(), Closed::ResetByUs);
        self.streams.free(stream);
        self.credit_connection(held);
    }

    /// Gives up the key of a stream that nobody needs any more. It is [reset](Self::reset) with the code that
    /// says so: NO_ERROR when the response was whole (RFC 9113 §8.1), else CANCEL.
    ///
    /// A server that has sent the whole response lets small content end first: it is dropped as it comes, up
    /// to [`Limits::drain_bytes`](alula_machine::Limits::drain_bytes) and for
    /// [`Limits::linger_timeout`](alula_machine::Limits::linger_timeout). The stream counts as open until
    /// then.
    pub fn forget(&mut self, stream: StreamKey) {
        let Some(entry) = self.streams.get(stream) else { return };
        match self.is_client {
            false if entry.state.has_sent_all() => self.drain(stream),
            true if entry.state.has_received_all() => self.reset(stream, ErrorCode::NO_ERROR),
            _ => self.reset(stream, ErrorCode::CANCEL),
        }
    }

    /// Takes no new requests and lets the present ones end; then [`is_closed`](Self::is_closed) is true.
    ///
    /// A graceful server first announces it, so that requests on the way are still served, and names the last
    /// stream when the peer has answered the PING sent along (RFC 9113 §6.8). Going twice without grace is
    /// going once.
    pub fn goaway(&mut self, graceful: bool) {
        if self.error.is_some() || self.going.last_sent.is_some() {
            return;
        }
        if self.is_client || !graceful {
            self.queue_last_goaway();
        } else if !self.going.is_announced {
            self.going.is_announced = true;
            self.queue(&goaway(MAX_31, ErrorCode::NO_ERROR, 0));
            self.queue_grace_ping();
        }
    }

    /// Ends the connection at once, with a code for the peer; every stream ends with it.
    pub fn close(&mut self, code: ErrorCode) {
        if self.error.is_none() {
            self.end(ConnectionError::Closed(Some(code)), b"");
            self.notices.closed = false;
        }
    }

    /// Returns true if [`poll_notice`](Self::poll_notice) may return something: three comparisons.
    #[inline]
    pub fn has_notice(&self) -> bool {
        !self.streams.nobody_waits() || self.notices.is_any()
    }

    /// Returns the oldest pending notice of its kind; `None` if there is none. Cheap when there is none.
    #[inline]
    pub fn poll_notice(&mut self) -> Option<Notice> {
        if self.has_notice() { self.next_notice() } else { None }
    }

    fn next_notice(&mut self) -> Option<Notice> {
        if let Some(stream) = self.streams.first(Queue::Reset) {
            return Some(self.reset_notice(stream));
        }
        if self.has_turns()
            && let Some(notice) = self.writable_notice()
        {
            return Some(notice);
        }
        self.connection_notice()
    }

    fn reset_notice(&mut self, stream: StreamKey) -> Notice {
        self.streams.dequeue(Queue::Reset);
        let reset = self.streams.get(stream).map_or(UNREACHED, |entry| entry.reset);
        Notice::Reset { stream, reset }
    }

    fn writable_notice(&mut self) -> Option<Notice> {
        if self.turns.is_on() {
            return self.next_turn();
        }
        while let Some(stream) = self.streams.dequeue(Queue::Writable) {
            let Some(entry) = self.streams.get_mut(stream) else { continue };
            // The stream's own window may have closed since; then its WINDOW_UPDATE brings it here again.
            if entry.is_blocked && entry.state.is_open() && entry.window_out.available() > 0 {
                entry.is_blocked = false;
                return Some(Notice::Writable { stream });
            }
        }
        None
    }

    fn connection_notice(&mut self) -> Option<Notice> {
        if core::mem::take(&mut self.notices.slots) {
            return Some(Notice::Room);
        }
        if core::mem::take(&mut self.notices.goaway) {
            return self
                .going
                .peer
                .map(|(last, code)| Notice::Last(Some(Farewell { code, last: last.into() })));
        }
        if let Some(Breach { rule, head }) = self.notices.breaches.pop_front() {
            self.notices.refused_head = head;
            return Some(Notice::Breach(rule));
        }
        if core::mem::take(&mut self.notices.closed) {
            return self.error.map(Notice::Closed);
        }
        None
    }
}

const UNREACHED: Reset = Reset { code: ErrorCode::NO_ERROR, origin: Origin::Peer, unprocessed: false };

/// Opening of streams.
impl Connection {
    /// Returns true if a new request is possible in principle; there may still be too many.
    #[inline]
    pub(super) fn can_open(&self) -> bool {
        self.error.is_none() && !self.is_going() && self.next_id <= MAX_31
    }

    /// Returns the number of streams that a client may have open: the peer's limit, or the expected one until
    /// that is known.
    #[inline]
    pub(super) fn stream_limit(&self) -> u32 {
        let silent = if self.has_settings { u32::MAX } else { self.streams_expected };
        self.peer.streams_max.unwrap_or(silent)
    }

    /// Checks that a client may open a stream now.
    #[inline]
    pub(super) fn check_open(&mut self) -> Result<(), SendError> {
        if self.can_open() && self.is_client && self.open < self.stream_limit() {
            return Ok(());
        }
        Err(self.why_not_open())
    }

    #[cold]
    fn why_not_open(&mut self) -> SendError {
        match () {
            () if !self.is_client => SendError::WrongRole,
            () if self.error.is_some() => SendError::Closed,
            () if self.is_going() => SendError::GoingAway,
            () if self.next_id > MAX_31 => SendError::IdsExhausted,
            () => {
                self.notices.wants_slot = true;
                SendError::StreamLimit
            }
        }
    }

    /// Takes a slot for a new stream and counts it.
    #[inline(always)]
    pub(super) fn open_stream(&mut self, id: u32) -> (StreamKey, &mut Stream) {
        self.open += 1;
        let (stream, entry) = self.streams.open(id);
        entry.begin(self.local.acknowledged().stream_window, self.peer.stream_window);
        (stream, entry)
    }
}

/// Closing of streams.
impl Connection {
    /// Closes a stream whose halves have both ended; called after every END_STREAM.
    #[inline]
    pub(super) fn close_if_ended(&mut self, stream: StreamKey) {
        let Some(entry) = self.streams.get(stream) else { return };
        if let Some(state) = entry.state.completed() {
            self.end_stream(stream, state, Closed::Ended);
            self.counters.completed = self.counters.completed.wrapping_add(1);
            // A peer that completes exchanges earns back tokens, so that long-lived connections do not run
            // dry.
            self.bucket.refund(1);
            self.free_if_done(stream);
        }
    }

    /// Frees a closed stream from which the application needs nothing more.
    #[inline]
    pub(super) fn free_if_done(&mut self, stream: StreamKey) {
        if self.streams.get(stream).is_some_and(Stream::is_done_with) {
            self.streams.free(stream);
        }
    }

    /// Puts a stream into a state that ends it; both counts follow from the change.
    #[inline]
    pub(super) fn end_stream(&mut self, stream: StreamKey, state: State, how: Closed) {
        let Some((id, before)) = self.streams.close(stream, state) else { return };
        self.reset_held += u32::from(state.is_reset());
        self.reset_held -= u32::from(before.is_reset());
        if before.is_open() {
            self.closed.push(id, how);
            self.note_closed(stream);
        }
    }

    /// Records that a stream is not open any more.
    #[inline]
    fn note_closed(&mut self, stream: StreamKey) {
        self.open -= 1;
        if self.turns.has_promised() {
            self.end_grant(stream);
        }
        self.offer_slots();
    }

    /// Closes a stream that was reset, and tells the application unless it has released the stream.
    pub(super) fn reset_held_stream(&mut self, stream: StreamKey, reset: Reset, how: Closed) {
        let Some(entry) = self.streams.get_mut(stream) else { return };
        if entry.state.is_draining() {
            return self.cut_draining(stream, how);
        }
        entry.reset = reset;
        let state = entry.state.reset();
        self.end_stream(stream, state, how);
        self.streams.enqueue(Queue::Reset, stream);
    }

    /// Handles a broken rule on a stream by its scope: RST_STREAM now, or the connection by the error
    /// returned.
    pub(super) fn breach(&mut self, id: u32, rule: Violation, now: Time) -> Result<(), ConnectionError> {
        if rule.scope == Scope::Connection {
            return Err(ConnectionError::Peer(rule));
        }
        match self.streams.find(id) {
            Some(stream) => {
                let reset = Reset { code: rule.code, origin: Origin::Us(rule), unprocessed: false };
                self.reset_held_stream(stream, reset, Closed::ResetByUs);
            }
            None => self.refuse(id, rule)?,
        }
        self.queue(&rst_stream(id, rule.code));
        self.counters.stream_errors = self.counters.stream_errors.wrapping_add(1);
        self.notices.breaches.push_back(Breach { rule, head: None });
        self.glitch_of_breach(now)
    }

    /// Handles a frame whose stream is not open; `bytes` of content came with it.
    #[cold]
    pub(super) fn absent_in(
        &mut self,
        id: u32,
        frame: Frame,
        bytes: u32,
        now: Time,
    ) -> Result<(), ConnectionError> {
        match self.verdict(id, frame) {
            Verdict::Ignore => Ok(()),
            Verdict::Late => self.late_frame(bytes, now),
            Verdict::Crossed => {
                self.counters.resets_in = self.counters.resets_in.wrapping_add(1);
                self.note_reset(now)
            }
            Verdict::Glitch => self.glitch(1, now),
            Verdict::Breach(rule) => self.breach(id, rule, now),
        }
    }

    /// Returns the verdict on a frame whose stream is not open.
    pub(super) fn verdict(&self, id: u32, frame: Frame) -> Verdict {
        let absent = match () {
            () if self.is_idle(id) => Absent::Idle,
            () if !frame.asks_how() => Absent::Forgotten,
            () => match self.closed.find(id) {
                Some(how) => Absent::Closed(how),
                None if self.closed.may_have_forgotten(id) => Absent::Forgotten,
                None => Absent::Skipped,
            },
        };
        absent.on(frame)
    }

    /// Refuses a new stream for which there is no room, without blaming the peer, which may try again (RFC
    /// 9113 §8.7).
    pub(super) fn refuse_unblamed(&mut self, id: u32) {
        self.closed.push(id, Closed::ResetByUs);
        self.queue(&rst_stream(id, ErrorCode::REFUSED_STREAM));
    }

    /// Sends a stream error for a stream that the application does not hold: the frame is late, or opens a
    /// stream that is refused.
    fn refuse(&mut self, id: u32, rule: Violation) -> Result<(), ConnectionError> {
        if self.is_idle(id) {
            // RST_STREAM must not be sent on an idle stream, so the stream is used up by it.
            // The peer may not open this stream, so it cannot be reset; only the connection can answer.
            if self.is_client || id.is_multiple_of(2) {
                return Err(ConnectionError::Peer(Violation { scope: Scope::Connection, ..rule }));
            }
            self.highest_id = id;
        }
        self.closed.push(id, Closed::ResetByUs);
        Ok(())
    }

    /// Returns true if a stream has never been opened (RFC 9113 §5.1).
    #[inline]
    pub(super) fn is_idle(&self, id: u32) -> bool {
        id.is_multiple_of(2) || if self.is_client { id >= self.next_id } else { id > self.highest_id }
    }
}

/// Handling of misbehaviour.
impl Connection {
    /// Takes tokens for legal but useless behaviour; without any left the connection ends with
    /// ENHANCE_YOUR_CALM.
    pub(super) fn glitch(&mut self, cost: u32, now: Time) -> Result<(), ConnectionError> {
        self.counters.glitches = self.counters.glitches.wrapping_add(1);
        if self.bucket.take(cost, now) { Ok(()) } else { Err(self.too_many_glitches()) }
    }

    #[cold]
    fn too_many_glitches(&mut self) -> ConnectionError {
        let [seen, bound] = [self.counters.glitches, self.config.limits.glitch_burst].map(u64::from);
        self.exceeded = Some(Exceeded::GLITCHES.of(seen, bound));
        ConnectionError::Peer(Violation::TOO_MANY_GLITCHES)
    }

    /// Takes tokens for a stream that the peer has made us reset.
    fn glitch_of_breach(&mut self, now: Time) -> Result<(), ConnectionError> {
        self.glitch(1, now)?;
        match self.resets_made.take(self.counters.completed, now) {
            true => Ok(()),
            false => Err(self.too_many_glitches()),
        }
    }

    /// Takes a token for a request that the client has reset before its answer, or for a reset that has
    /// crossed ours. Peers do that for good reasons, in which other useless frames have no part.
    pub(super) fn note_reset(&mut self, now: Time) -> Result<(), ConnectionError> {
        if self.resets.take(self.counters.completed, now) {
            return Ok(());
        }
        let [seen, bound] = [self.counters.resets_in, self.config.limits.reset_burst].map(u64::from);
        self.exceeded = Some(Exceeded::RESETS.of(seen, bound));
        Err(ConnectionError::Peer(Violation::TOO_MANY_GLITCHES))
    }
}

/// Ending of the connection.
impl Connection {
    /// Returns the limit that the peer exceeded last, with the amount seen and its value; for an error whose
    /// rule [is about one](alula_machine::Rule::is_of_limit).
    pub const fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded
    }

    /// Ends the connection by an error: GOAWAY says which rule was broken.
    #[cold]
    pub(super) fn fail(&mut self, error: ConnectionError) -> ConnectionError {
        self.trace.break_off();
        let rule = match &error {
            ConnectionError::Peer(violation) => violation.rule,
            ConnectionError::Compression { rule } => rule,
            _ => "",
        };
        self.end(error, rule.as_bytes());
        error
    }

    fn end(&mut self, error: ConnectionError, debug: &[u8]) {
        let last = self.last_processed();
        self.queue(&goaway(last, ErrorCode::of(&error), debug.len() as u32));
        self.pending.extend(debug);
        self.going.last_sent = Some(last);
        self.error = Some(error);
        self.notices.closed = true;
    }

    /// Queues a GOAWAY with the last stream; higher streams are ignored.
    pub(super) fn queue_last_goaway(&mut self) {
        let last = self.last_processed();
        self.going.is_announced = true;
        self.going.last_sent = Some(last);
        self.queue(&goaway(last, ErrorCode::NO_ERROR, 0));
    }

    /// Returns the highest stream of the peer that this side has acted on. A client's peer opens none.
    fn last_processed(&self) -> u32 {
        self.going.last_sent.unwrap_or(self.highest_id)
    }

    /// Resets the requests that the peer has not acted on, by its GOAWAY.
    pub(super) fn reset_above(&mut self, last: u32) {
        let code = self.going.peer.map_or(ErrorCode::NO_ERROR, |(_, code)| code);
        for slot in 0..self.streams.slots() {
            let Some(stream) = self.streams.key_at(slot) else { continue };
            let left_out = self.streams.get(stream).filter(|entry| entry.state.is_open() && entry.id > last);
            if let Some(entry) = left_out {
                // A peer that has begun to answer has acted on the request, whatever it says now.
                let unprocessed = !entry.state.has_received_head();
                let reset = Reset { code, origin: Origin::GoAway, unprocessed };
                self.reset_held_stream(stream, reset, Closed::ResetByUs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, RequestHead};
    use alula_fields::FieldSection;
    use alula_machine::OutBuf;

    #[test]
    fn identifiers_run_out() {
        let fields = FieldSection::new();
        let (scheme, authority, path) = ("https", "a.example", "/");
        let head = RequestHead { method: "GET", scheme, authority, path, protocol: None, fields: &fields };
        let (mut client, mut out) = (Connection::client(Config::default()), OutBuf::new());
        client.next_id = MAX_31;
        let last = client.send_request(&head, true, &mut out).unwrap();
        assert_eq!(client.stream_id(last), Some(MAX_31));
        assert_eq!(client.send_request(&head, true, &mut out), Err(SendError::IdsExhausted));
        assert_eq!(client.available_slots(), 0);
    }
}
