//! HTTP/1.1 as a protocol machine: one exchange at a time, without windows.

use alloc::boxed::Box;
use core::convert::Infallible;

use alula_fields::{FieldSection, Head, RequestHead, ResponseHead};
use alula_machine::{
    Event, Exceeded, Limits, OutBuf, ProtocolMachine, Reason, Received, StreamKey, Time, UnknownStream,
};

use crate::connection::Connection;
use crate::error::{ConnectionError, SendError};
use crate::event::Notice;
use crate::guard::violation::Violation;
use crate::head::prepared::Prepared;

impl ProtocolMachine for Connection {
    type Rule = Violation;
    type Fact = Infallible;
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

    /// Declares unwanted content; the answer then says whether the connection ends with it.
    #[inline]
    fn decline_content(&mut self, stream: StreamKey) {
        self.decline_content(stream);
    }

    #[inline]
    fn receive<'i>(&mut self, input: &'i [u8], now: Time) -> Result<Received<'i>, ConnectionError> {
        self.receive(input, now)
    }

    fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        if is_truncated { self.receive_truncation(now) } else { self.receive_end(now) }
    }

    fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded()
    }

    fn is_unanswered(&self) -> bool {
        self.is_unanswered()
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
    fn take_only_room(&mut self) -> bool {
        self.take_only_room()
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
    fn release_capacity(&mut self, _: StreamKey, bytes: u32) -> bool {
        let was_wanted = self.wants_read();
        self.release_capacity(bytes);
        !was_wanted && self.wants_read()
    }

    #[inline]
    fn wants_read(&self) -> bool {
        self.wants_read()
    }

    #[inline]
    fn is_holding(&self) -> bool {
        !self.can_go_on()
    }

    #[inline]
    fn can_go_on(&self) -> bool {
        self.can_go_on()
    }

    #[inline]
    fn rests(&self, input: &[u8]) -> bool {
        self.rests(input)
    }

    /// Ends the connection, unless little is left of the exchange. A peer that was too slow is told so where
    /// its request has no answer yet; other reasons have no words.
    fn reset(&mut self, stream: StreamKey, reason: Reason) {
        match reason {
            Reason::TooMuch => self.reset_late(stream),
            _ => self.reset(stream),
        }
    }

    fn forget(&mut self, stream: StreamKey) {
        self.reset(stream);
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

    #[inline]
    fn discarding(&self) -> Option<(u32, u64)> {
        self.discarding().map(|key| (key.generation(), self.discarded()))
    }

    /// Returns no bound of its own: the output alone bounds content.
    fn await_capacity(&mut self, _: StreamKey) -> usize {
        if self.takes_content() { usize::MAX } else { 0 }
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
        self.is_introduced()
    }

    fn is_cut_unseen(&self) -> bool {
        self.is_cut_unseen()
    }

    #[inline]
    fn wants_shutdown(&self) -> bool {
        self.wants_shutdown()
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    /// Returns true if a request may be sent. Its answer needs room: content that nobody has read yet may
    /// take all there is, and the head of the answer would not be read.
    #[inline]
    fn is_free(&self) -> bool {
        self.is_idle() && self.wants_read()
    }

    fn goaway(&mut self, _: bool) {
        self.goaway();
    }

    fn close(&mut self, _: Reason) {
        self.close();
    }

    #[inline]
    fn wants_write(&self) -> bool {
        self.wants_write()
    }

    #[inline]
    fn poll_transmit(&mut self, _: Time, out: &mut OutBuf) -> usize {
        self.poll_transmit(out)
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        self.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }

    fn await_request_anew(&mut self, now: Time) -> bool {
        self.await_request_anew(now)
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

    fn check_invariants(&self) {
        self.check_invariants();
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }
}

#[cfg(test)]
mod tests {
    use alula_fields::Status;

    use super::*;
    use crate::Config;

    #[test]
    fn room_is_taken_alone_and_never_before_other_notices() {
        let (mut server, mut out) = (Connection::server(Config::default()), OutBuf::new());
        let mut answer = |request: &[u8]| {
            let event = ProtocolMachine::receive(&mut server, request, Time::ZERO).unwrap().event;
            let Some(Event::Head { stream, .. }) = event else { panic!("a whole request") };
            let head = ResponseHead { status: Status::OK, fields: &FieldSection::new() };
            server.send_response(stream, &head, true, &mut out).unwrap();
            (server.take_only_room(), server.take_only_room(), server.has_notice())
        };
        assert_eq!(answer(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"), (true, false, false));
        let last = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        assert_eq!(answer(last), (false, false, true));
    }
}
