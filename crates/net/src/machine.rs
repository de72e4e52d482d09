//! The machine of a connection, of whichever version was agreed on: what the loops see of either.
//!
//! Rule: here is translated, and nothing decided. What a version has no notion of is answered as if it never came to that.

use alula_fields::{FieldSection, Head, RequestHead, ResponseHead};
use alula_h1 as h1;
use alula_h2::{self as h2, ErrorCode, FrameSummary, Priority};
use alula_machine::{Limits, OutBuf, StreamKey, Time};

use crate::{
    cause::Refusal,
    error::Error,
    happened::{Event, Notice},
    prepared::Prepared,
    version::Version,
};

/// A connection's machine: HTTP/1.1 or HTTP/2.
pub enum Machine {
    /// HTTP/1.1: one exchange at a time.
    Http1(Box<h1::Connection>),
    /// HTTP/2: streams.
    Http2(Box<h2::Connection>),
}

impl From<h1::Connection> for Machine {
    fn from(machine: h1::Connection) -> Self {
        Self::Http1(Box::new(machine))
    }
}

impl From<h2::Connection> for Machine {
    fn from(machine: h2::Connection) -> Self {
        Self::Http2(Box::new(machine))
    }
}

/// Commands on messages.
impl Machine {
    /// Sends a request; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then.
    #[inline]
    pub fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_request(head, end, out)?),
            Self::Http2(machine) => Ok(machine.send_request(head, end, out)?),
        }
    }

    /// Sends a prepared request.
    ///
    /// # Errors
    /// As [`send_request`](Self::send_request), and when the values do not fit the holes.
    #[inline]
    pub fn send_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_prepared(&prepared.h1, values, end, out)?),
            Self::Http2(machine) => Ok(machine.send_prepared(&prepared.h2, values, end, out)?),
        }
    }

    /// Sends the final response; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then.
    #[inline]
    pub fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_response(stream, head, end, out)?),
            Self::Http2(machine) => Ok(machine.send_response(stream, head, end, out)?),
        }
    }

    /// Notes, before the answer, that nobody is going to read what is left of the request's content: over HTTP/1.1 the answer says
    /// then whether the connection ends with it.
    #[inline]
    pub(crate) fn decline_content(&mut self, stream: StreamKey) {
        if let Self::Http1(machine) = self {
            machine.decline_content(stream);
        }
    }

    /// Sends an interim response.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then.
    pub fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_interim(stream, head, out)?),
            Self::Http2(machine) => Ok(machine.send_interim(stream, head, out)?),
        }
    }

    /// Ends a message with trailers.
    ///
    /// # Errors
    /// When they cannot be sent; nothing has changed then.
    pub fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_trailers(stream, trailers, out)?),
            Self::Http2(machine) => Ok(machine.send_trailers(stream, trailers, out)?),
        }
    }

    /// Sends as much content as can be sent now, and says how much that was.
    #[inline]
    pub(crate) fn send_data(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<usize, Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_data(stream, data, end, out)?),
            Self::Http2(machine) => Ok(machine.send_data(stream, data, end, out)?),
        }
    }

    /// Tells the server another priority; HTTP/1.1 has no way to, and nobody to prefer.
    pub(crate) fn reprioritise(&mut self, stream: StreamKey, priority: Priority) -> Result<(), Refusal> {
        match self {
            Self::Http1(_) => Ok(()),
            Self::Http2(machine) => Ok(machine.reprioritise(stream, priority)?),
        }
    }
}

/// What comes.
impl Machine {
    /// Takes octets that were read: how many were used, and what happened.
    #[inline]
    pub(crate) fn receive<'i>(
        &mut self,
        input: &'i [u8],
        now: Time,
    ) -> Result<(usize, Option<Event<'i>>), Error> {
        match self {
            Self::Http1(machine) => match machine.receive(input, now) {
                Ok(received) => Ok((received.consumed, received.event.map(Event::from))),
                Err(error) => Err(Error::http1(error).exceeding(machine.exceeded())),
            },
            Self::Http2(machine) => match machine.receive(input, now) {
                Ok(received) => Ok((received.consumed, received.event.map(Event::from))),
                Err(error) => Err(Error::connection(error).exceeding(machine.exceeded())),
            },
        }
    }

    /// The peer has closed its side; `is_truncated` says that TLS did not end before.
    pub(crate) fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static>>, Error> {
        match self {
            Self::Http1(machine) => {
                let event = match is_truncated {
                    true => machine.receive_truncation(now),
                    false => machine.receive_end(now),
                };
                event.map(|event| event.map(Event::from)).map_err(Error::http1)
            }
            Self::Http2(_) => Err(Error::closed()),
        }
    }

    /// The debug data of the peer's GOAWAY; empty if there is none.
    pub(crate) fn goaway_debug(&self) -> &[u8] {
        match self {
            Self::Http1(_) => &[],
            Self::Http2(machine) => machine.goaway_debug(),
        }
    }

    /// Returns true if a client's connection that had answered before has brought nothing after the request.
    pub(crate) fn is_unanswered(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_unanswered(),
            // The slots know it of their streams.
            Self::Http2(_) => false,
        }
    }

    /// Returns true if something happened beside the events.
    #[inline]
    pub(crate) fn has_notice(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.has_notice(),
            Self::Http2(machine) => machine.has_notice(),
        }
    }

    /// The oldest of what happened beside the events.
    #[inline]
    pub(crate) fn poll_notice(&mut self) -> Option<Notice> {
        match self {
            Self::Http1(machine) => {
                let notice = machine.poll_notice()?;
                Some(Notice::of_http1(notice, machine))
            }
            Self::Http2(machine) => {
                let notice = machine.poll_notice()?;
                Some(Notice::of_http2(notice, machine))
            }
        }
    }

    /// Takes a head that was announced, and leaves a spare one instead, if there is one; `None` when its stream is gone.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, stream: StreamKey, mut spare: Option<Box<Head>>) -> Option<Box<Head>> {
        match self {
            Self::Http1(machine) => machine.exchange_head(stream, &mut spare).ok()?,
            Self::Http2(machine) => machine.exchange_head(stream, &mut spare).ok()?,
        }
        Some(spare.unwrap_or_default())
    }

    /// Swaps trailers that were announced into `into`; false when their stream is gone.
    pub(crate) fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> bool {
        match self {
            Self::Http1(machine) => machine.take_trailers(stream, into).is_ok(),
            Self::Http2(machine) => machine.take_trailers(stream, into).is_ok(),
        }
    }

    /// Gives consumed octets back; true when the peer's octets are wanted from now on that were not before.
    #[inline]
    pub(crate) fn release_capacity(&mut self, stream: StreamKey, octets: u32) -> bool {
        match self {
            Self::Http1(machine) => {
                let was_wanted = machine.wants_read();
                machine.release_capacity(octets);
                !was_wanted && machine.wants_read()
            }
            Self::Http2(machine) => {
                // A stream that is gone owes nothing.
                let _ = machine.release_capacity(stream, octets);
                false
            }
        }
    }

    /// Returns true if the socket is to be read; a machine of HTTP/2 says it by its windows.
    #[inline]
    pub(crate) fn wants_read(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.wants_read(),
            Self::Http2(_) => true,
        }
    }

    /// Returns true if the machine leaves what comes until the exchange under way is over.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        match self {
            Self::Http1(machine) => !machine.can_go_on(),
            Self::Http2(_) => false,
        }
    }

    /// Returns true if nothing would come of these octets if they were given now: mostly the exchange is over, and spares asking.
    #[inline]
    pub(crate) fn rests(&self, input: &[u8]) -> bool {
        match self {
            Self::Http1(machine) => machine.rests(input),
            Self::Http2(machine) => input.is_empty() && !machine.is_closed(),
        }
    }

    /// Returns true if octets that were left may be given again: the exchange before them is over.
    #[inline]
    pub(crate) fn can_go_on(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.can_go_on(),
            Self::Http2(_) => false,
        }
    }
}

/// Streams.
impl Machine {
    /// Ends a stream; in HTTP/1.1 that ends the connection, unless what is left of the exchange is little.
    pub(crate) fn reset(&mut self, stream: StreamKey, code: ErrorCode) {
        match self {
            Self::Http1(machine) => machine.reset(stream),
            Self::Http2(machine) => machine.reset(stream, code),
        }
    }

    /// Lets go of a stream that has failed.
    pub(crate) fn forget(&mut self, stream: StreamKey) {
        match self {
            Self::Http1(machine) => machine.reset(stream),
            Self::Http2(machine) => machine.forget(stream),
        }
    }

    /// Whether our message is whole; `None` when the stream is gone.
    #[inline]
    pub(crate) fn has_sent_all(&self, stream: StreamKey) -> Option<bool> {
        match self {
            Self::Http1(machine) => machine.has_sent_all(stream),
            Self::Http2(machine) => machine.has_sent_all(stream),
        }
    }

    /// Returns true while the peer owes content, or its end, and our windows let it send.
    pub(crate) fn is_content_awaited(&self, stream: StreamKey) -> bool {
        match self {
            Self::Http1(machine) => machine.is_content_awaited(stream),
            Self::Http2(machine) => machine.is_content_awaited(stream),
        }
    }

    /// The octets of content that the peer is still to send, where it has stated a length.
    pub(crate) fn content_left(&self, stream: StreamKey) -> Option<u64> {
        match self {
            Self::Http1(machine) => machine.content_left(stream),
            Self::Http2(machine) => machine.content_left(stream),
        }
    }

    /// A number for the exchange whose content is read and dropped, and the octets of content that were dropped so far over all
    /// exchanges; `None` while nothing is. HTTP/2 drops the content of streams that were reset, for which nothing waits.
    #[inline]
    pub(crate) fn discarding(&self) -> Option<(u32, u64)> {
        match self {
            Self::Http1(machine) => machine.discarding().map(|key| (key.generation(), machine.discarded())),
            Self::Http2(_) => None,
        }
    }

    /// Returns true if the peer's windows have no room for content. HTTP/1.1 has no windows: there the socket says it.
    pub(crate) fn is_without_room(&self, stream: StreamKey) -> bool {
        match self {
            Self::Http1(_) => false,
            Self::Http2(machine) => machine.is_without_window(stream),
        }
    }

    /// Returns how many octets of content may be sent now; if none, a notice tells when there is room. In HTTP/1.1 only the output
    /// bounds it.
    pub(crate) fn await_capacity(&mut self, stream: StreamKey) -> usize {
        match self {
            Self::Http1(machine) if machine.takes_content() => usize::MAX,
            Self::Http1(_) => 0,
            Self::Http2(machine) => machine.await_capacity(stream),
        }
    }

    /// Returns true if the peer may send no content at all until we have read some. HTTP/1.1 has no windows.
    pub(crate) fn is_out_of_window(&self) -> bool {
        match self {
            Self::Http1(_) => false,
            Self::Http2(machine) => machine.peers_window() <= 0,
        }
    }

    /// Returns true if the machine tells when this stream may send again after the output was full.
    pub(crate) fn await_room(&mut self, stream: StreamKey) -> bool {
        match self {
            Self::Http1(_) => false,
            Self::Http2(machine) => machine.await_room(stream),
        }
    }

    /// Tells those who wait for room that there is some; false when the machine knows of nobody.
    #[inline]
    pub(crate) fn give_room(&mut self, octets: u32) -> bool {
        match self {
            Self::Http2(machine) if machine.awaits_room() => {
                machine.give_room(octets);
                true
            }
            _ => false,
        }
    }

    /// Everybody who was told to go on has run.
    #[inline]
    pub(crate) fn end_turn(&mut self) {
        if let Self::Http2(machine) = self {
            machine.end_turn();
        }
    }
}

/// The connection.
impl Machine {
    #[inline]
    pub(crate) fn is_client(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_client(),
            Self::Http2(machine) => machine.is_client(),
        }
    }

    pub(crate) const fn version(&self) -> Version {
        match self {
            Self::Http1(_) => Version::Http1,
            Self::Http2(_) => Version::Http2,
        }
    }

    #[inline]
    pub(crate) const fn is_http1(&self) -> bool {
        matches!(self.version(), Version::Http1)
    }

    pub(crate) fn limits(&self) -> &Limits {
        match self {
            Self::Http1(machine) => machine.limits(),
            Self::Http2(machine) => machine.limits(),
        }
    }

    /// Returns true if the peer has shown what it wants: its preface, or its first head.
    pub(crate) fn is_introduced(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_introduced(),
            Self::Http2(machine) => machine.has_peer_settings(),
        }
    }

    /// Returns true if a message was cut where the peer cannot see it.
    pub(crate) fn is_cut_unseen(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_cut_unseen(),
            Self::Http2(_) => false,
        }
    }

    /// Returns true if our direction of a tunnel has ended.
    #[inline]
    pub(crate) fn wants_shutdown(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.wants_shutdown(),
            Self::Http2(_) => false,
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_closed(),
            Self::Http2(machine) => machine.is_closed(),
        }
    }

    /// Returns true if a request can be sent at once. Over HTTP/1.1 its answer has to find room: content that nobody has read yet
    /// may take all there is, and the head of the answer would not be read.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.is_idle() && machine.wants_read(),
            Self::Http2(machine) => machine.available_slots() > 0,
        }
    }

    /// How many requests can be sent at once; when none can, a notice tells of the next that can.
    pub(crate) fn await_slot(&mut self) -> usize {
        match self {
            Self::Http1(_) => self.is_free().into(),
            Self::Http2(machine) => machine.await_slot(),
        }
    }

    /// The number of streams that the peer allows at once, over HTTP/2 and once it has told its settings.
    pub(crate) fn streams_allowed(&self) -> Option<u32> {
        match self {
            Self::Http2(machine) if machine.has_peer_settings() => {
                Some(machine.peer_settings().streams_max.unwrap_or(u32::MAX))
            }
            _ => None,
        }
    }

    pub(crate) fn goaway(&mut self, with_grace: bool) {
        match self {
            Self::Http1(machine) => machine.goaway(),
            Self::Http2(machine) => machine.goaway(with_grace),
        }
    }

    pub(crate) fn close(&mut self, code: ErrorCode) {
        match self {
            Self::Http1(machine) => machine.close(),
            Self::Http2(machine) => machine.close(code),
        }
    }

    #[inline]
    pub(crate) fn wants_write(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.wants_write(),
            Self::Http2(machine) => machine.wants_write(),
        }
    }

    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time, out: &mut OutBuf) {
        match self {
            Self::Http1(machine) => _ = machine.poll_transmit(out),
            Self::Http2(machine) => _ = machine.poll_transmit(now, out),
        }
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Http1(machine) => machine.poll_timeout(),
            Self::Http2(machine) => machine.poll_timeout(),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Http1(machine) => machine.handle_timeout(now),
            Self::Http2(machine) => machine.handle_timeout(now),
        }
    }

    /// Waits for the next request of HTTP/1.1 anew when it did not come by `now`, and returns true then.
    pub(crate) fn await_request_anew(&mut self, now: Time) -> bool {
        match self {
            Self::Http1(machine) => machine.await_request_anew(now),
            Self::Http2(_) => false,
        }
    }

    pub(crate) fn poll_trace(&mut self) -> Option<FrameSummary> {
        match self {
            Self::Http1(_) => None,
            Self::Http2(machine) => machine.poll_trace(),
        }
    }

    /// The head of the request just sent, `written` being all that was put out for it: its lines, each ended by CRLF. Over HTTP/2 it
    /// is kept only if [`h2::Config::keep_sent_head`] is set. Allocates.
    pub fn sent_head(&self, written: &[u8]) -> Vec<u8> {
        match self {
            Self::Http1(_) => written.to_vec(),
            Self::Http2(machine) => machine.sent_head().to_vec(),
        }
    }

    /// Returns true if the next head would be read into a new one.
    #[inline]
    pub(crate) fn needs_head(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.needs_head(),
            Self::Http2(machine) => machine.needs_head(),
        }
    }

    /// Has the next head read into this one, if it has none to read into.
    pub(crate) fn read_into(&mut self, head: Box<Head>) {
        match self {
            Self::Http1(machine) => machine.read_into(head),
            Self::Http2(machine) => machine.read_into(head),
        }
    }

    /// Takes away a head that a next one would be read into, if there is one left.
    pub(crate) fn take_empty_head(&mut self) -> Option<Box<Head>> {
        match self {
            Self::Http1(machine) => machine.take_empty_head(),
            Self::Http2(machine) => machine.take_empty_head(),
        }
    }

    /// Gives back what an idle connection does not need.
    pub(crate) fn trim(&mut self) {
        match self {
            Self::Http1(machine) => machine.trim(),
            Self::Http2(machine) => machine.trim(),
        }
    }

    pub(crate) fn memory_bytes(&mut self) -> usize {
        match self {
            Self::Http1(machine) => size_of_val(&**machine) + machine.memory_bytes(),
            Self::Http2(machine) => size_of_val(&**machine) + machine.memory_bytes(),
        }
    }
}

/// What simulations ask.
#[cfg(feature = "simulation")]
impl Machine {
    pub(crate) fn check_invariants(&self) {
        match self {
            Self::Http1(machine) => machine.check_invariants(),
            Self::Http2(machine) => machine.check_invariants(),
        }
    }

    /// The octets that may be sent, and that the peer may send; HTTP/1.1 has no windows.
    pub(crate) fn windows(&self) -> [i64; 2] {
        match self {
            Self::Http1(_) => [0, 0],
            Self::Http2(machine) => [machine.send_window(), machine.peers_window()],
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        match self {
            Self::Http1(machine) => machine.in_flight(),
            Self::Http2(machine) => machine.in_flight(),
        }
    }
}
