//! HTTP/2 as a protocol machine.

use alloc::boxed::Box;

use alula_fields::{FieldSection, Head, RequestHead, ResponseHead};
use alula_machine::{Exceeded, Limits, OutBuf, ProtocolMachine, Reason, StreamKey, Time, UnknownStream};

use crate::connection::Connection;
use crate::error::{ConnectionError, SendError};
use crate::event::{Event, Fact, Notice, Received};
use crate::frame::error_code::ErrorCode;
use crate::guard::violation::Violation;
use crate::head::prepared::Prepared;

impl ProtocolMachine for Connection {
    type Rule = Violation;
    type Fact = Fact;
    type Prepared = Prepared;

    #[inline]
    fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.send_request(head, end, out)
    }

    #[inline]
    fn send_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.send_prepared(prepared, values, end, out)
    }

    #[inline]
    fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.send_response(stream, head, end, out)
    }

    fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.send_interim(stream, head, out)
    }

    #[inline]
    fn send_data(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<usize, SendError> {
        self.send_data(stream, data, end, out)
    }

    fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.send_trailers(stream, trailers, out)
    }

    #[inline]
    fn receive<'i>(&mut self, input: &'i [u8], now: Time) -> Result<Received<'i>, ConnectionError> {
        self.receive(input, now)
    }

    /// Ends the connection: HTTP/2 has no message that the end of the input completes.
    fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        let _ = (is_truncated, now);
        Err(ConnectionError::PeerClosed)
    }

    fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded()
    }

    fn goaway_debug(&self) -> &[u8] {
        self.goaway_debug()
    }

    #[inline]
    fn has_notice(&self) -> bool {
        self.has_notice()
    }

    #[inline]
    fn poll_notice(&mut self) -> Option<Notice> {
        self.poll_notice()
    }

    #[inline]
    fn exchange_head(
        &mut self,
        stream: StreamKey,
        into: &mut Option<Box<Head>>,
    ) -> Result<(), UnknownStream> {
        self.exchange_head(stream, into)
    }

    fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> Result<(), UnknownStream> {
        self.take_trailers(stream, into)
    }

    #[inline]
    fn release_capacity(&mut self, stream: StreamKey, bytes: u32) -> bool {
        // A stream that is gone owes nothing.
        let _ = self.release_capacity(stream, bytes);
        false
    }

    #[inline]
    fn rests(&self, input: &[u8]) -> bool {
        input.is_empty() && !self.is_closed()
    }

    fn reset(&mut self, stream: StreamKey, reason: Reason) {
        match reason {
            Reason::NotWanted => self.drain(stream),
            _ => self.reset(stream, code_of(reason)),
        }
    }

    fn forget(&mut self, stream: StreamKey) {
        self.forget(stream);
    }

    #[inline]
    fn has_sent_all(&self, stream: StreamKey) -> Option<bool> {
        self.has_sent_all(stream)
    }

    fn is_content_awaited(&self, stream: StreamKey) -> bool {
        self.is_content_awaited(stream)
    }

    fn content_left(&self, stream: StreamKey) -> Option<u64> {
        self.content_left(stream)
    }

    fn is_without_window(&self, stream: StreamKey) -> bool {
        self.is_without_window(stream)
    }

    fn await_capacity(&mut self, stream: StreamKey) -> usize {
        self.await_capacity(stream)
    }

    fn is_out_of_window(&self) -> bool {
        self.peers_window() <= 0
    }

    fn await_room(&mut self, stream: StreamKey) -> bool {
        self.await_room(stream)
    }

    #[inline]
    fn awaits_room(&self) -> bool {
        self.awaits_room()
    }

    fn give_room(&mut self, bytes: u32) {
        self.give_room(bytes);
    }

    #[inline]
    fn end_turn(&mut self) {
        self.end_turn();
    }

    #[inline]
    fn is_client(&self) -> bool {
        self.is_client()
    }

    fn limits(&self) -> &Limits {
        self.limits()
    }

    fn bound_heads(&mut self, bytes: u32) {
        self.bound_heads(bytes);
    }

    fn is_introduced(&self) -> bool {
        self.has_peer_settings()
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.available_slots() > 0
    }

    fn await_slot(&mut self) -> usize {
        self.await_slot()
    }

    fn streams_allowed(&self) -> Option<u32> {
        self.has_peer_settings().then(|| self.peer_settings().streams_max.unwrap_or(u32::MAX))
    }

    fn field_section_allowed(&self) -> Option<u32> {
        self.has_peer_settings().then(|| self.peer_settings().field_section_bytes_max.unwrap_or(u32::MAX))
    }

    fn goaway(&mut self, with_grace: bool) {
        self.goaway(with_grace);
    }

    fn close(&mut self, reason: Reason) {
        self.close(code_of(reason));
    }

    #[inline]
    fn wants_write(&self) -> bool {
        self.wants_write()
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time, out: &mut OutBuf) -> usize {
        self.poll_transmit(now, out)
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        self.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }

    #[inline]
    fn needs_head(&self) -> bool {
        self.needs_head()
    }

    fn read_into(&mut self, head: Box<Head>) {
        self.read_into(head);
    }

    fn take_empty_head(&mut self) -> Option<Box<Head>> {
        self.take_empty_head()
    }

    fn trim(&mut self) {
        self.trim();
    }

    fn memory_bytes(&mut self) -> usize {
        Self::memory_bytes(self)
    }

    #[inline]
    fn queued_bytes(&self) -> usize {
        self.queued_bytes()
    }

    fn check_invariants(&self) {
        self.check_invariants();
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }

    fn windows(&self) -> [i64; 2] {
        [self.send_window(), self.peers_window()]
    }
}

/// Returns the error code for a reason (RFC 9113 §7).
const fn code_of(reason: Reason) -> ErrorCode {
    match reason {
        Reason::NotWanted => ErrorCode::NO_ERROR,
        Reason::Cancelled => ErrorCode::CANCEL,
        Reason::Refused => ErrorCode::REFUSED_STREAM,
        Reason::Failed => ErrorCode::INTERNAL_ERROR,
        Reason::TooMuch => ErrorCode::ENHANCE_YOUR_CALM,
    }
}
