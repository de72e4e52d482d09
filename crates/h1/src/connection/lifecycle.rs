//! The ends of exchanges and of a connection.

use core::time::Duration;

use alula_fields::{Decimal, Status};
use alula_machine::{Exceeded, OutBuf, StreamKey, Time};

use super::{Connection, Notices, Receiving, Sending};
use crate::error::{Awaited, ConnectionError};
use crate::event::Notice;
use crate::guard::violation::Violation;

/// The longest wait of a client for the rest of an unwanted response. The server works on it for as long: a
/// proxy that gives up a call does so since its own client has left. It is long enough for what is on its
/// way, and what is not keeps the connection from being used.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The content of the answer to an invalid target: some servers accept raw bytes in it, which RFC 3986 does
/// not allow.
const INVALID_TARGET: &str = "The target of the request has not the form that its method asks for, or has a byte \
    that is to be written as %XX (RFC 9112, RFC 3986).\n";

/// The content of the answer to a first head that is too large while memory is scarce.
const LONG_FIRST_HEAD: &str = "Much of the memory is in use: the head of the first request of a connection is \
    longer than first_head_bytes allows until a request of the connection was answered.\n";

const LONG_HEAD: &str = "The head of the request is larger than head_bytes allows (RFC 6585).\n";

const MANY_FIELDS: &str = "The head of the request is larger than fields allows (RFC 6585).\n";

/// Abandoning exchanges.
impl Connection {
    /// Abandons an exchange. The rest of the peer's message is read and dropped, if it is not longer than
    /// allowed ([`Limits::drain_bytes`](alula_machine::Limits::drain_bytes)), takes no longer than the next
    /// request might ([`Limits::idle_timeout`](alula_machine::Limits::idle_timeout)), on a client no longer
    /// than a second after the last byte, and our own message is whole; else the connection ends. Nothing
    /// happens to a stream that is gone, or over.
    pub fn reset(&mut self, stream: StreamKey) {
        if !self.is_current(stream) || self.is_over || self.error.is_some() || self.discards.is_some() {
            return;
        }
        let most = u64::from(self.config.limits.drain_bytes);
        let is_short = match self.receiving {
            Receiving::Length(left) => left <= most,
            Receiving::Chunks | Receiving::Trailers => most > 0,
            _ => false,
        };
        match self.sending == Sending::Ended {
            true if is_short && self.persists => self.discard(most),
            // The answer is whole: the driver closes after it, and the client learns no error.
            true if !self.is_client => self.hang_up(),
            _ => _ = self.fail(ConnectionError::GivenUp),
        }
    }

    /// Abandons an exchange whose peer has sent its content too slowly. A server that has sent no head of an
    /// answer yet says so first, by 408 (RFC 9110 §15.5.9). Nothing happens to a stream that is gone, or
    /// over.
    pub fn reset_late(&mut self, stream: StreamKey) {
        let is_left = self.is_current(stream) && !self.is_over && self.error.is_none();
        if is_left && self.owes_answer() {
            self.answer(Status::REQUEST_TIMEOUT, "");
        }
        self.reset(stream);
    }

    /// Declares, before the answer, that nobody will read the rest of the request's content. The answer says
    /// `connection: close` where the connection will not outlast that: more is left than
    /// [`reset`](Self::reset) drops, or nobody knows how much. A client that has it on the way already would
    /// else send its next request after it.
    #[inline]
    pub fn decline_content(&mut self, stream: StreamKey) {
        if self.receiving != Receiving::Ended && self.is_current(stream) {
            self.persists &= match self.receiving {
                Receiving::Length(left) => left <= u64::from(self.config.limits.drain_bytes),
                Receiving::Chunks | Receiving::Trailers => false,
                _ => true,
            };
        }
    }

    /// Drops the rest of the peer's message, up to so many bytes, for the time of a wait for another request.
    fn discard(&mut self, most: u64) {
        // The message may end exactly at the bound; only one byte more than that ends the connection.
        self.discards = Some(most.saturating_add(1));
        let timeout = self.config.limits.idle_timeout;
        let timeout = if self.is_client { timeout.min(DRAIN_TIMEOUT) } else { timeout };
        self.due = self.now.saturating_add(timeout);
    }

    /// Ends the connection after our complete answer, because the rest of the request is not worth waiting
    /// for.
    fn hang_up(&mut self) {
        self.persists = false;
        self.receiving = Receiving::Ended;
        self.settle();
    }

    /// Lets the present exchange be the last.
    pub fn goaway(&mut self) {
        self.is_going = true;
        let has_begun = !self.is_over || (!self.is_client && self.head_in.has_begun());
        if !has_begun {
            self.persists = false;
            // A request that the peer sent meanwhile is not acted on.
            self.receiving = Receiving::Ended;
            self.due = Time::FAR;
        } else if self.sending != Sending::Ended {
            // A client's next request, or a server's answer, says so.
            self.persists &= self.is_over;
        }
    }

    /// Ends the connection at once.
    pub fn close(&mut self) {
        if self.error.is_none() {
            self.fail(ConnectionError::Closed(None));
        }
    }
}

/// The interface of the driver: notices, output and deadlines.
impl Connection {
    /// Returns true if [`poll_notice`](Self::poll_notice) has something.
    #[inline]
    pub fn has_notice(&self) -> bool {
        let Notices { idle, last, writable, closed } = self.notices;
        idle | last | writable | closed
    }

    /// Returns the oldest pending notice; `None` if there is none.
    #[inline]
    pub fn poll_notice(&mut self) -> Option<Notice> {
        let take = core::mem::take::<bool>;
        match () {
            () if take(&mut self.notices.writable) => Some(Notice::Writable { stream: self.key() }),
            () if take(&mut self.notices.idle) => Some(Notice::Room),
            () if take(&mut self.notices.last) => Some(Notice::Last(None)),
            () if take(&mut self.notices.closed) => self.error.map(Notice::Closed),
            () => None,
        }
    }

    /// Takes [`Notice::Room`] if it is the only notice; otherwise returns false and takes nothing.
    #[inline]
    pub fn take_only_room(&mut self) -> bool {
        let Notices { idle, last, writable, closed } = self.notices;
        let is_only = idle && !(last || writable || closed);
        self.notices.idle &= !is_only;
        is_only
    }

    /// Appends the machine's own output, before anything else is written there, and returns its length.
    #[inline]
    pub fn poll_transmit(&mut self, out: &mut OutBuf) -> usize {
        let bytes = self.pending.len();
        if bytes > 0 {
            out.extend(self.pending.unsent());
            self.pending.clear();
        }
        bytes
    }

    /// Returns true if [`poll_transmit`](Self::poll_transmit) has something.
    #[inline]
    pub fn wants_write(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due, if nothing happens before.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.due != Time::FAR && self.error.is_none()).then_some(self.due)
    }

    /// Does what is due by `now`: an incomplete head ends the connection, and so does an idle time. A client
    /// that asks nothing leaves before its server does, where that has stated when (`keep-alive: timeout`).
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = self.now.max(now);
        if self.error.is_some() || now < self.due {
            return;
        }
        // The server is about to close an idle connection: a request sent now would be lost.
        if self.is_client && self.is_over {
            return self.leave();
        }
        let awaited = if self.awaits_head { Awaited::Head } else { Awaited::Request };
        self.fail(ConnectionError::TimedOut(awaited));
    }

    /// Ends an idle connection of a client, whose server is about to end it.
    #[cold]
    fn leave(&mut self) {
        self.goaway();
        self.notices.last = true;
    }

    /// Restarts a server's wait for the next request, or for unwanted content, if it ended by `now`, and
    /// returns true then: for a driver whose peer has not taken all of the answer. Changes nothing when
    /// anything else is due.
    pub fn await_request_anew(&mut self, now: Time) -> bool {
        let has_ended = self.error.is_none() && self.due <= now;
        // A client that lets go of a response has no answer that could be cut.
        let drops = self.discards.is_some() && !self.is_client;
        let is_next = drops || (self.is_idle() && !self.awaits_head);
        if has_ended && is_next {
            self.due = now.saturating_add(self.config.limits.idle_timeout);
        }
        has_ended && is_next
    }
}

impl Connection {
    /// Ends the exchange once both its messages have ended.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.receiving != Receiving::Ended || self.sending != Sending::Ended || self.is_over {
            return;
        }
        self.is_over = true;
        self.discards = None;
        (self.interim, self.interim_bytes) = (0, 0);
        self.due = Time::FAR;
        // The driver closes after an exchange that does not persist (RFC 9112 §9.6).
        if !self.persists || self.is_going || self.is_peer_done {
            self.persists = false;
            self.notices.last = true;
            return;
        }
        self.sending = Sending::Idle;
        self.notices.idle = true;
        if self.is_client {
            self.receiving = Receiving::Idle;
            self.due = self.keep_alive.ends_at(self.now);
        } else {
            self.receiving = Receiving::Head;
            self.due = self.now.saturating_add(self.config.limits.idle_timeout);
        }
    }

    /// Ends the connection; a server that owes an answer sends the reason.
    #[cold]
    pub(super) fn fail(&mut self, error: ConnectionError) -> ConnectionError {
        if let (true, Some(status)) = (self.owes_answer(), status_of(error)) {
            self.answer(status, self.text_of(error));
        }
        self.error = Some(error);
        self.due = Time::FAR;
        self.notices.closed = true;
        error
    }

    /// Returns the limit that ended the connection, with the amount seen and its value.
    #[cold]
    pub fn exceeded(&self) -> Option<Exceeded> {
        let Some(ConnectionError::Peer(rule)) = self.error else { return None };
        let limits = &self.config.limits;
        match rule {
            Violation::CHUNK_EXTENSIONS_LONG => {
                let bound = u64::from(limits.chunk_extension_bytes);
                Some(Exceeded::CHUNK_EXTENSION_BYTES.of(bound + 1, bound))
            }
            Violation::INTERIM_MANY if self.interim_bytes > limits.head_bytes as usize => {
                Some(Exceeded::INTERIM_HEAD_BYTES.of(self.interim_bytes as u64, limits.head_bytes.into()))
            }
            Violation::INTERIM_MANY => {
                let bound = u64::from(limits.interim_responses);
                Some(Exceeded::INTERIM_RESPONSES.of(u64::from(self.interim), bound))
            }
            rule => self.head_in.exceeded(rule),
        }
    }

    /// Returns true for a server that has sent no head of its answer, to a peer that is still there.
    fn owes_answer(&self) -> bool {
        // After a head, a second status would be read as content.
        let has_no_head = matches!(self.sending, Sending::Idle | Sending::Head);
        !self.is_client && has_no_head && !self.is_peer_done
    }

    /// Returns the content of the answer to a refused request whose status alone does not explain it: other
    /// servers accept it, or this one does at other times.
    fn text_of(&self, error: ConnectionError) -> &'static str {
        let ConnectionError::Peer(rule) = error else { return "" };
        // An answer to HEAD has no content (RFC 9110 §9.3.2).
        if self.head.as_deref().and_then(|head| head.method()) == Some("HEAD") {
            return "";
        }
        match rule {
            Violation::TARGET_INVALID => INVALID_TARGET,
            Violation::FIELDS_MANY => MANY_FIELDS,
            Violation::HEAD_LONG => match self.head_in.exceeded(rule) {
                Some(limit) if limit.limit() == "first_head_bytes" => LONG_FIRST_HEAD,
                _ => LONG_HEAD,
            },
            _ => "",
        }
    }

    fn answer(&mut self, status: Status, text: &str) {
        for part in [
            &b"HTTP/1.1 "[..],
            &status.digits(),
            b" ",
            status.reason().unwrap_or_default().as_bytes(),
            b"\r\n",
        ] {
            self.pending.extend(part);
        }
        if let Some(date) = self.config.date {
            self.pending.extend(b"Date: ");
            self.pending.extend(&date());
            self.pending.extend(b"\r\n");
        }
        if !text.is_empty() {
            self.pending.extend(b"Content-Type: text/plain\r\n");
        }
        self.pending.extend(b"Content-Length: ");
        self.pending.extend(Decimal::of(text.len() as u64).as_bytes());
        self.pending.extend(b"\r\nConnection: close\r\n\r\n");
        self.pending.extend(text.as_bytes());
    }
}

/// Returns the status of the answer to a peer that was too slow.
fn status_of(error: ConnectionError) -> Option<Status> {
    match error {
        ConnectionError::Peer(violation) => Some(violation.status),
        ConnectionError::TimedOut(Awaited::Head) => Some(Status::REQUEST_TIMEOUT),
        _ => None,
    }
}
