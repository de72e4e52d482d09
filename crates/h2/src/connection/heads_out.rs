//! Sent field sections: requests, responses, interim responses, trailers (RFC 9113 §8.1).
//!
//! Everything is checked first. Then the block is encoded in place behind room for a frame header; a block
//! longer than the peer's frames is cut where it lies (RFC 9113 §4.3).

use alula_fields::{FieldSection, KnownName, RequestHead, ResponseHead};
use alula_hpack::{Block, Field, Indexing};
use alula_machine::{Limits, OutBuf, StreamKey};

use super::Connection;
use crate::error::SendError;
use crate::frame::{FrameHeader, FrameKind, HEADER_BYTES, flag};
use crate::guard::violation::Violation;
use crate::head::fields_in::Section;
use crate::head::fields_out::{self, HeadFacts};
use crate::head::prepared::Prepared;
use crate::head::repeated::Known;
use crate::stream::Stream;
use crate::stream::content::Content;
use crate::stream::half::Outgoing;
use crate::stream::state::State;

impl Connection {
    /// Opens a stream with a request. With `end` it has no content and no trailers.
    ///
    /// # Errors
    /// When it cannot be sent, or not now; nothing has changed then, and nothing is written.
    pub fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.check_open()?;
        let known = self.repeated.find(head.fields, Section::Request);
        let facts = fields_out::request(head, known, Some(&mut self.authority))?;
        if head.protocol.is_some() {
            self.check_connect_protocol()?;
        }
        self.check_request_size(facts.size)?;
        let content = facts.content(end)?;
        let state = State::IDLE.sent(Outgoing::Head { end_stream: end })?;
        let stream = self.begin_sending(&facts, content, state);
        self.flush(out);
        let mark = open_frame(out);
        write_pseudo(&mut self.encoder.block(out), head);
        self.write_fields(head.fields, Section::Request, known, &facts, out);
        self.close_block(mark, self.next_id - 2, end, out);
        Ok(stream)
    }

    /// Checks what [`send_request`](Self::send_request) would refuse on any connection with these limits;
    /// with `end` the request has no content. Allocates nothing.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn check_sendable(head: &RequestHead<'_>, end: bool, limits: &Limits) -> Result<(), SendError> {
        fields_out::request(head, None, None)?.check(end, limits)
    }

    /// Opens a stream with a prepared request; `values` are for its holes, in order. Allocates nothing once
    /// the connection has sent it before.
    ///
    /// # Errors
    /// As [`send_request`](Self::send_request), also when a value may not be in its hole.
    pub fn send_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.check_open()?;
        let facts = prepared.check(values)?;
        if prepared.is_extended_connect() {
            self.check_connect_protocol()?;
        }
        self.check_request_size(facts.size)?;
        let content = facts.content(end)?;
        let state = State::IDLE.sent(Outgoing::Head { end_stream: end })?;
        let stream = self.begin_sending(&facts, content, state);
        self.flush(out);
        let mark = open_frame(out);
        self.encoder.emit(prepared.block(), values, out);
        self.close_block(mark, self.next_id - 2, end, out);
        Ok(stream)
    }

    /// Answers a request. With `end` the response has no content and no trailers.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        let next = self.check_answer(stream)?.state.sent(Outgoing::Head { end_stream: end })?;
        let known = self.repeated.find(head.fields, Section::Response);
        let facts = fields_out::response(head, false, known)?;
        self.check_size(facts.size)?;
        let entry = self.streams.get_mut(stream).ok_or(SendError::UnknownStream)?;
        let is_tunnel = entry.is_connect && head.status.is_success();
        let content = match head.status.as_u16() {
            _ if is_tunnel => Content::UNSTATED,
            // The answer to HEAD may state the length that GET would have had (RFC 9110 §8.6).
            _ if entry.is_head_request => Content::NONE,
            // There is nothing whose length could be stated (RFC 9110 §8.6).
            204 if facts.content_length.is_some() => return Err(SendError::ContentLength),
            204 | 304 => Content::NONE,
            _ => facts.content(end)?,
        };
        entry.content_out = content;
        entry.is_tunnel = is_tunnel;
        entry.state = next;
        let id = entry.id;
        self.write_response(id, head, known, &facts, end, out);
        if end {
            self.close_if_ended(stream);
        }
        Ok(())
    }

    /// Sends an interim response, 1xx except 101, before the final one.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        let entry = self.check_answer(stream)?;
        entry.state.sent(Outgoing::Interim)?;
        let id = entry.id;
        let facts = fields_out::response(head, true, None)?;
        if facts.content_length.is_some() {
            return Err(SendError::ContentLength);
        }
        self.check_size(facts.size)?;
        self.write_response(id, head, None, &facts, false, out);
        Ok(())
    }

    /// Ends a message with trailers, after all of its content.
    ///
    /// # Errors
    /// When they cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        let entry = self.check_stream(stream)?;
        let next = entry.state.sent(Outgoing::Trailers)?;
        // Trailers end the message, so all of the stated content has to be out.
        entry.content_out.check(0, true).map_err(|_| SendError::ContentLength)?;
        if entry.is_tunnel {
            return Err(SendError::Control(Violation::FIELDS_IN_TUNNEL));
        }
        fields_out::trailers(trailers)?;
        self.check_size(trailers.list_size())?;
        let entry = self.streams.get_mut(stream).ok_or(SendError::UnknownStream)?;
        entry.state = next;
        let id = entry.id;
        self.flush(out);
        let mark = open_frame(out);
        self.encoder.encode(section(trailers), out);
        self.close_block(mark, id, true, out);
        self.close_if_ended(stream);
        Ok(())
    }
}

/// Checks of commands.
impl Connection {
    /// Returns the stream, if it can be sent on.
    #[inline]
    pub(super) fn check_stream(&self, stream: StreamKey) -> Result<&Stream, SendError> {
        if self.error.is_some() {
            return Err(SendError::Closed);
        }
        let entry = self.streams.get(stream).ok_or(SendError::UnknownStream)?;
        if entry.state.is_reset() { Err(SendError::StreamReset) } else { Ok(entry) }
    }

    #[inline]
    fn check_answer(&self, stream: StreamKey) -> Result<&Stream, SendError> {
        if self.is_client {
            return Err(SendError::WrongRole);
        }
        self.check_stream(stream)
    }

    /// Checks that the peer has announced support of `:protocol` (RFC 8441 §3).
    #[cold]
    fn check_connect_protocol(&mut self) -> Result<(), SendError> {
        match (self.has_settings, self.peer.connect_protocol) {
            (_, true) => Ok(()),
            (true, false) => Err(SendError::ConnectProtocolNotEnabled),
            // Extended CONNECT must wait for the server's SETTINGS (RFC 8441 §3).
            (false, false) => Err(self.await_settings()),
        }
    }

    /// Refuses a request until the peer's SETTINGS have come, which a notice will announce.
    #[cold]
    fn await_settings(&mut self) -> SendError {
        self.notices.wants_slot = true;
        SendError::AwaitsSettings
    }

    /// Checks the size of a request; an expected limit refuses nothing for good, because it may be out of
    /// date.
    #[inline]
    fn check_request_size(&mut self, size: usize) -> Result<(), SendError> {
        self.check_size(size)?;
        if !self.has_settings && size as u64 > u64::from(self.field_section_expected) {
            return Err(self.await_settings());
        }
        Ok(())
    }

    /// Checks the size of a head against the peer's SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §10.5.1), and
    /// against the memory of a connection, since it is written in one piece.
    #[inline]
    fn check_size(&self, size: usize) -> Result<(), SendError> {
        fields_out::check_own_size(size, &self.config.limits)?;
        match self.peer.field_section_bytes_max {
            Some(limit) if size as u64 > u64::from(limit) => {
                Err(SendError::FieldsTooLarge { size: size as u64, limit })
            }
            _ => Ok(()),
        }
    }
}

/// Writing of frames.
impl Connection {
    #[inline]
    fn begin_sending(&mut self, facts: &HeadFacts, content: Content, state: State) -> StreamKey {
        let (stream, entry) = self.open_stream(self.next_id);
        entry.state = state;
        entry.content_out = content;
        entry.is_head_request = facts.is_head;
        entry.is_connect = facts.is_connect;
        self.next_id += 2;
        stream
    }

    #[inline]
    fn write_response(
        &mut self,
        id: u32,
        head: &ResponseHead<'_>,
        known: Option<Known>,
        facts: &HeadFacts,
        end: bool,
        out: &mut OutBuf,
    ) {
        self.flush(out);
        let mark = open_frame(out);
        let digits = head.status.digits();
        self.encoder.block(out).known(KnownName::PSEUDO_STATUS, &digits);
        self.write_fields(head.fields, Section::Response, known, facts, out);
        self.close_block(mark, id, end, out);
    }

    /// Writes the fields after the pseudo-fields; repeated ones are copied from the last time.
    #[inline]
    fn write_fields(
        &mut self,
        fields: &FieldSection,
        kind: Section,
        known: Option<Known>,
        facts: &HeadFacts,
        out: &mut OutBuf,
    ) {
        let epoch = self.encoder.epoch();
        if known.is_some()
            && let Some(block) = self.repeated.block(epoch)
        {
            return out.extend(block);
        }
        let mark = out.end();
        self.encoder.encode(section(fields), out);
        // The length a request has is not told of CONNECT.
        if self.encoder.epoch() == epoch && !facts.is_connect {
            let known = Known { content_length: facts.content_length };
            self.repeated.keep(fields, kind, known, out.since(mark), epoch);
        }
    }

    /// Writes the header of the frame whose block was written, or of all frames that it needs.
    #[inline]
    fn close_block(&mut self, mark: usize, id: u32, end: bool, out: &mut OutBuf) {
        let length = out.end() - mark - HEADER_BYTES;
        let end_stream = if end { flag::END_STREAM } else { 0 };
        let kind = FrameKind::HEADERS;
        if length > self.peer.frame_bytes_max as usize {
            return self.split_block(mark, id, end_stream, out);
        }
        let flags = flag::END_HEADERS | end_stream;
        let header = FrameHeader { length: length as u32, kind, flags, stream: id };
        out.since_mut(mark)[..HEADER_BYTES].copy_from_slice(&header.bytes());
        self.counters.frame_out(kind);
        if self.trace.is_on() {
            self.watch_block(header, mark, out);
        }
    }

    /// Records the frame since this mark for observers.
    #[cold]
    #[inline(never)]
    fn watch_block(&mut self, header: FrameHeader, mark: usize, out: &OutBuf) {
        self.trace.keep_head(&out.since(mark)[HEADER_BYTES..]);
        self.trace.record(true, header, &[]);
    }

    /// Splits a block in place into HEADERS and CONTINUATION: starting with the last, each piece moves back
    /// by the frame headers before it.
    #[cold]
    fn split_block(&mut self, mark: usize, id: u32, end_stream: u8, out: &mut OutBuf) {
        let max = self.peer.frame_bytes_max as usize;
        let length = out.end() - mark - HEADER_BYTES;
        let last = length.div_ceil(max) - 1;
        self.trace.keep_head(&out.since(mark)[HEADER_BYTES..]);
        out.spare(last * HEADER_BYTES);
        out.commit(last * HEADER_BYTES);
        let frames = out.since_mut(mark);
        let header = |piece: usize| FrameHeader {
            length: max.min(length - piece * max) as u32,
            kind: if piece == 0 { FrameKind::HEADERS } else { FrameKind::CONTINUATION },
            flags: if piece == last { flag::END_HEADERS } else { 0 }
                | if piece == 0 { end_stream } else { 0 },
            stream: id,
        };
        // From the last piece to the first, so that no piece is overwritten before it is moved.
        for piece in (0..=last).rev() {
            let header = header(piece);
            let from = HEADER_BYTES + piece * max;
            let to = piece * (HEADER_BYTES + max);
            frames.copy_within(from..from + header.length as usize, to + HEADER_BYTES);
            frames[to..to + HEADER_BYTES].copy_from_slice(&header.bytes());
        }
        for piece in 0..=last {
            self.sent(header(piece), &[]);
        }
    }
}

/// Reserves room for a frame header, and returns its place.
#[inline]
pub(super) fn open_frame(out: &mut OutBuf) -> usize {
    let mark = out.end();
    out.extend(&[0; HEADER_BYTES]);
    mark
}

/// Writes the pseudo-fields of a request.
#[inline]
fn write_pseudo(block: &mut Block<'_>, head: &RequestHead<'_>) {
    let has_target = !fields_out::is_plain_connect(head);
    block.known(KnownName::PSEUDO_METHOD, head.method.as_bytes());
    if let Some(protocol) = head.protocol {
        block.known(KnownName::PSEUDO_PROTOCOL, protocol.as_bytes());
    }
    if has_target {
        block.known(KnownName::PSEUDO_SCHEME, head.scheme.as_bytes());
    }
    if !head.authority.is_empty() {
        block.known(KnownName::PSEUDO_AUTHORITY, head.authority.as_bytes());
    }
    if has_target {
        block.known(KnownName::PSEUDO_PATH, head.path.as_bytes());
    }
}

/// Returns the fields of a section as they are sent: values without surrounding white space.
#[inline]
fn section(fields: &FieldSection) -> impl Iterator<Item = Field<'_>> {
    fields.iter().map(|field| {
        // A value must not begin or end with white space (RFC 9113 §8.2.1).
        let value = fields_out::trimmed(field.value());
        let indexing = if field.is_sensitive() { Indexing::Never } else { Indexing::Auto };
        Field { name: field.name_bytes(), known: field.known(), value, indexing }
    })
}
