//! Received field sections: HEADERS and CONTINUATION (RFC 9113 §4.3, §6.2, §6.10).
//!
//! The target of a block is decided when its HEADERS is here; its fields go through the decoder into a
//! scratch head, whatever the target, since the table must see them all; the verdict is given when the block
//! is whole. Only then is a stream opened and the head swapped into it.

pub(super) mod block;

use alula_hpack::DecodeError;
use alula_machine::{Exceeded, StreamKey, Time};

use self::block::{Block, Target};
use super::{Connection, FAR_TOO_LARGE};
use crate::error::ConnectionError;
use crate::event::Event;
use crate::frame::phase::{Phase, Step};
use crate::frame::{FrameHeader, MAX_31, flag};
use crate::guard::violation::{Scope, Violation};
use crate::head::fields_in::{Collect, FieldCheck, RequestFacts, Section, SectionLimits, join_cookies};
use crate::stream::absent::{Frame, Verdict};
use crate::stream::closed_ids::Closed;
use crate::stream::content::Content;
use crate::stream::half::Incoming;
use crate::stream::state::State;

/// The bound on field sections.
impl Connection {
    /// Bounds field sections to so many bytes from now on, including the one that is being read, if
    /// `Limits::field_section_bytes` is larger; `u32::MAX` leaves it to the limits alone. The peer is not
    /// told.
    pub fn bound_heads(&mut self, bytes: u32) {
        self.section_bound = bytes;
    }
}

/// Frames.
impl Connection {
    #[inline]
    pub(super) fn headers_header(
        &mut self,
        header: FrameHeader,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        if header.stream == 0 {
            return Err(Violation::HEADERS_ON_CONNECTION.into());
        }
        if !header.has(flag::PADDED | flag::PRIORITY) {
            self.begin_block(header, header.length, 0, None, now)?;
            return self.fragment(header.length, 0, header.has(flag::END_HEADERS), rest, now);
        }
        if header.length < prefix_len(header) {
            return Err(Violation::FRAME_TOO_SHORT.into());
        }
        self.phase = Phase::HeadersPrefix(header);
        Ok(Step::More)
    }

    #[cold]
    pub(super) fn headers_prefix(
        &mut self,
        header: FrameHeader,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        let gathered = match (header.has(flag::PADDED), header.has(flag::PRIORITY)) {
            (true, true) => self.hold.gather::<6>(rest).map(|[pad, a, b, c, d, _]| (pad, Some([a, b, c, d]))),
            (false, true) => self.hold.gather::<5>(rest).map(|[a, b, c, d, _]| (0, Some([a, b, c, d]))),
            (_, false) => self.hold.gather::<1>(rest).map(|[pad]| (pad, None)),
        };
        let Some((padding, priority)) = gathered else { return Ok(Step::Starved) };
        let padding = u32::from(padding);
        let left = header.length - prefix_len(header);
        let fragment = left.checked_sub(padding).ok_or(Violation::PADDING_TOO_LONG)?;
        let depends_on = priority.map(|bytes| u32::from_be_bytes(bytes) & MAX_31);
        self.begin_block(header, fragment, padding, depends_on, now)?;
        Ok(Step::More)
    }

    #[inline]
    fn begin_block(
        &mut self,
        header: FrameHeader,
        fragment: u32,
        padding: u32,
        depends_on: Option<u32>,
        now: Time,
    ) -> Result<(), ConnectionError> {
        self.aim(header, now)?;
        if let Some(depends_on) = depends_on {
            self.counters.priorities_ignored = self.counters.priorities_ignored.wrapping_add(1);
            // The block is decoded all the same: the dynamic table must see it (RFC 9113 §4.3).
            if depends_on == header.stream {
                self.block.target = Target::Nothing(Some(Violation::SELF_DEPENDENCY));
            }
        }
        let block = &mut self.block;
        block.is_open = true;
        block.stream = header.stream;
        block.end_stream = header.has(flag::END_STREAM);
        block.continuations = 0;
        block.wire_bytes = 0;
        block.is_fresh = true;
        block.check = FieldCheck::new(match block.target {
            Target::Request => Section::Request,
            Target::Response(_) => Section::Response,
            Target::Trailers(_) => Section::Trailers,
            Target::Refused | Target::Nothing(_) => Section::Discarded,
        });
        self.phase = Phase::Fragment { left: fragment, padding, is_last: header.has(flag::END_HEADERS) };
        Ok(())
    }

    pub(super) fn continuation_header(
        &mut self,
        header: FrameHeader,
    ) -> Result<Step<'static>, ConnectionError> {
        let is_last = header.has(flag::END_HEADERS);
        self.block.continuations += 1;
        if self.block.continuations > self.config.limits.continuation_frames {
            let [seen, bound] =
                [self.block.continuations, self.config.limits.continuation_frames].map(u64::from);
            self.exceeded = Some(Exceeded::CONTINUATION_FRAMES.of(seen, bound));
            return Err(Violation::CONTINUATION_FLOOD.into());
        }
        // Far beyond the limit the rest is not decoded: the table is lost, and the connection with it.
        if self.block.wire_bytes > self.section_bound.saturating_mul(FAR_TOO_LARGE) {
            // A string is held until it is whole, and only then counts toward the size of the section.
            let [seen, bound] = [self.block.wire_bytes, self.section_bound].map(u64::from);
            self.exceeded = Some(Exceeded::FIRST_HEAD_BYTES.of(seen, bound));
            return Err(Violation::FIELDS_FAR_TOO_LARGE.into());
        }
        // Empty CONTINUATION frames are the cheapest flood there is (RFC 9113 §10.5).
        if header.length == 0 && !is_last {
            return Err(Violation::CONTINUATION_EMPTY.into());
        }
        self.phase = Phase::Fragment { left: header.length, padding: 0, is_last };
        Ok(Step::More)
    }

    /// Passes the available bytes to the decoder.
    #[inline]
    pub(super) fn fragment(
        &mut self,
        left: u32,
        padding: u32,
        is_last: bool,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        let (bytes, after) = rest.split_at(rest.len().min(left as usize));
        if bytes.is_empty() && left > 0 {
            return Ok(Step::Starved);
        }
        *rest = after;
        let left = left - bytes.len() as u32;
        let is_end = is_last && left == 0;
        if is_end && self.block.is_fresh {
            self.decode_whole(bytes)?;
        } else {
            self.decode(bytes, is_end)?;
        }
        if left > 0 {
            self.phase = Phase::Fragment { left, padding, is_last };
            return Ok(Step::Starved);
        }
        self.skip_next(padding);
        if !is_last {
            return Ok(Step::More);
        }
        self.block.is_open = false;
        self.finish_block(now)
    }

    /// Decodes a complete block, or finds it among the remembered ones.
    #[inline]
    fn decode_whole(&mut self, bytes: &[u8]) -> Result<(), ConnectionError> {
        let block = &mut self.block;
        let bytes_max = self.local.newest().field_section_bytes_max.unwrap_or(u32::MAX) as usize;
        if let Some(known) = block.memo.get(&self.decoder, bytes)
            && known.size() <= bytes_max
            && known.give(&mut block.check, block.head.get_or_insert_default())
        {
            self.counters.memo_hits = self.counters.memo_hits.wrapping_add(1);
            return Ok(());
        }
        self.decode(bytes, true)?;
        let Block { check, head, memo, .. } = &mut self.block;
        if check.is_plain() && matches!(check.section(), Section::Request | Section::Response) {
            memo.put(&self.decoder, bytes, |known| known.keep(check, head.get_or_insert_default()));
        }
        Ok(())
    }

    #[inline]
    fn section_limits(&self) -> SectionLimits {
        SectionLimits {
            bytes: self.section_bytes().min(self.paid_bytes()).min(self.section_bound) as usize,
            fields: self.config.limits.fields,
            cookie_crumbs: self.config.limits.cookie_crumbs,
        }
    }

    #[inline]
    fn section_bytes(&self) -> u32 {
        self.local.newest().field_section_bytes_max.unwrap_or(self.config.limits.field_section_bytes)
    }

    /// Returns the size of a section that the received bytes of its block allow.
    #[inline]
    fn paid_bytes(&self) -> u32 {
        let paid = self.block.wire_bytes.saturating_mul(self.config.limits.field_section_expansion);
        paid.saturating_add(FREE_BYTES)
    }

    #[inline]
    fn decode(&mut self, bytes: &[u8], end: bool) -> Result<(), ConnectionError> {
        self.block.wire_bytes = self.block.wire_bytes.saturating_add(bytes.len() as u32);
        let limits = self.section_limits();
        let Block { check, head, cookies, is_fresh, .. } = &mut self.block;
        let head = head.get_or_insert_default();
        if core::mem::take(is_fresh) {
            head.clear();
            head.make_room();
        }
        let trims_values = self.is_client && self.config.leniency.spaced_values;
        let authority = &mut self.authority;
        let mut collect = Collect { check, head, cookies, authority, limits, trims_values };
        let decoded = self.decoder.decode(bytes, end, &mut collect);
        if self.block.check.size > limits.bytes.saturating_mul(FAR_TOO_LARGE as usize) {
            self.note_large_section();
            return Err(Violation::FIELDS_FAR_TOO_LARGE.into());
        }
        decoded.map_err(|error| self.undecodable(error))
    }

    /// Returns the error for a block that cannot be decoded. A string above the limit may be well-formed;
    /// then the size is to blame and not the compression.
    #[cold]
    fn undecodable(&mut self, error: DecodeError) -> ConnectionError {
        if !error.is_limit() {
            return ConnectionError::Compression { rule: error.rule() };
        }
        let bound = u64::from(self.config.limits.string_bytes);
        self.exceeded = Some(Exceeded::STRING_BYTES.of(bound + 1, bound));
        ConnectionError::Peer(Violation::FIELDS_FAR_TOO_LARGE)
    }

    /// Records which limit the last field section exceeded.
    #[cold]
    fn note_large_section(&mut self) {
        let (check, limits) = (&self.block.check, self.section_limits());
        let (fields, crumbs) = (u64::from(limits.fields), u64::from(limits.cookie_crumbs));
        self.exceeded = Some(match () {
            () if check.size > limits.bytes && limits.bytes as u64 == u64::from(self.section_bound) => {
                Exceeded::FIRST_HEAD_BYTES.of(check.size as u64, limits.bytes as u64)
            }
            // The smallest of the bounds is the one that the section has met, and the one to report.
            () if check.size > limits.bytes && self.paid_bytes() < self.section_bytes() => {
                let seen = (check.size as u64).div_ceil(u64::from(self.block.wire_bytes).max(1));
                Exceeded::FIELD_SECTION_EXPANSION.of(seen, self.config.limits.field_section_expansion.into())
            }
            () if check.size > limits.bytes => {
                Exceeded::FIELD_SECTION_BYTES.of(check.size as u64, limits.bytes as u64)
            }
            () if check.fields > limits.fields => Exceeded::FIELDS.of(check.fields.into(), fields),
            () => Exceeded::COOKIE_CRUMBS.of(check.crumbs.into(), crumbs),
        });
    }
}

/// The size of a section that needs few bytes on the wire: a response of a few indexes may name long fields
/// of the previous one.
const FREE_BYTES: u32 = 16 * 1024;

fn prefix_len(header: FrameHeader) -> u32 {
    let padded = if header.has(flag::PADDED) { 1 } else { 0 };
    let priority = if header.has(flag::PRIORITY) { 5 } else { 0 };
    padded + priority
}

/// The use of a block (RFC 9113 §5.1).
impl Connection {
    #[inline]
    fn aim(&mut self, header: FrameHeader, now: Time) -> Result<(), ConnectionError> {
        let id = header.stream;
        self.block.target = match self.streams.find(id) {
            Some(stream) => self.target_of(stream, header),
            None if !self.is_client && id > self.highest_id => self.target_of_new(id, now)?,
            None => self.target_of_absent(id)?,
        };
        Ok(())
    }

    #[inline]
    fn target_of(&mut self, stream: StreamKey, header: FrameHeader) -> Target {
        let Some(entry) = self.streams.get(stream) else { return Target::Nothing(None) };
        // Interim and final heads are told apart by their status, which is decoded later.
        if self.is_client && !entry.state.has_received_head() {
            return Target::Response(stream);
        }
        let end_stream = header.has(flag::END_STREAM);
        match entry.state.received(Incoming::Headers { end_stream }) {
            // A tunnel carries DATA alone (RFC 9113 §8.5).
            Ok(_) if entry.is_tunnel => Target::Nothing(Some(Violation::FIELDS_IN_TUNNEL)),
            Ok(_) => Target::Trailers(stream),
            Err(rule) => Target::Nothing(Some(rule)),
        }
    }

    #[inline]
    fn target_of_new(&mut self, id: u32, now: Time) -> Result<Target, ConnectionError> {
        if id.is_multiple_of(2) {
            return Err(Violation::EVEN_STREAM_ID.into());
        }
        // A new stream closes all idle streams with lower identifiers (RFC 9113 §5.1.1), even if it is
        // refused.
        self.highest_id = id;
        if self.going.last_sent.is_some() {
            // Above the last stream we named: the client knows that it is not acted on (RFC 9113 §6.8).
            self.closed.push(id, Closed::ResetByUs);
            return Ok(Target::Nothing(None));
        }
        let limit = self.local.newest().streams_max.unwrap_or(self.config.limits.streams);
        // Streams that the client has reset count until their handlers stop, or resets would bypass the
        // limit.
        if self.open + self.reset_held >= limit || self.streams.held() >= 2 * limit as usize {
            return self.refuse_new(limit, now);
        }
        Ok(Target::Request)
    }

    /// Refuses a stream because too many are open, or were and are held here. The client is to blame for
    /// those alone that it has open beyond the limit that it has acknowledged.
    #[cold]
    fn refuse_new(&mut self, limit: u32, now: Time) -> Result<Target, ConnectionError> {
        self.counters.refused = self.counters.refused.wrapping_add(1);
        let known = self.local.acknowledged().streams_max.unwrap_or(u32::MAX);
        if self.open < limit.max(known) {
            return Ok(Target::Refused);
        }
        self.glitch(1, now)?;
        Ok(Target::Nothing(Some(Violation::TOO_MANY_STREAMS)))
    }

    #[cold]
    fn target_of_absent(&self, id: u32) -> Result<Target, ConnectionError> {
        let frame = if self.is_client { Frame::Response } else { Frame::Request };
        match self.verdict(id, frame) {
            Verdict::Breach(rule) if rule.scope == Scope::Connection => Err(rule.into()),
            Verdict::Breach(rule) => Ok(Target::Nothing(Some(rule))),
            Verdict::Ignore | Verdict::Late | Verdict::Crossed | Verdict::Glitch => Ok(Target::Nothing(None)),
        }
    }
}

/// The verdict on a complete block.
impl Connection {
    #[inline]
    fn finish_block(&mut self, now: Time) -> Result<Step<'static>, ConnectionError> {
        let (id, end) = (self.block.stream, self.block.end_stream);
        if self.block.check.is_too_large() {
            self.counters.oversize_sections = self.counters.oversize_sections.wrapping_add(1);
        }
        let verdict = match self.block.target {
            Target::Request => self.request_in(id, end),
            Target::Response(stream) => self.response_in(stream, end),
            Target::Trailers(stream) => self.trailers_in(stream, end),
            Target::Refused => {
                self.refuse_unblamed(id);
                Ok(None)
            }
            Target::Nothing(Some(rule)) => Err(rule),
            Target::Nothing(None) => {
                self.late_frame(0, now)?;
                Ok(None)
            }
        };
        match verdict {
            Ok(Some(event)) => Ok(Step::Event(event)),
            Ok(None) => Ok(Step::More),
            Err(rule) => {
                self.refuse_block(id, rule, now)?;
                Ok(Step::More)
            }
        }
    }

    /// Handles a rule that a block has broken.
    #[cold]
    fn refuse_block(&mut self, id: u32, rule: Violation, now: Time) -> Result<(), ConnectionError> {
        let is_first = self.notices.breaches.is_empty();
        // A connection that ends by it ends within the block.
        self.block.is_open = rule.scope == Scope::Connection;
        let refused = self.breach(id, rule, now);
        if is_first {
            self.keep_refused_head();
        }
        refused
    }

    #[inline]
    fn request_in(&mut self, id: u32, end: bool) -> Result<Option<Event<'static>>, Violation> {
        let Block { check, head, cookies, .. } = &mut self.block;
        if check.is_too_large() {
            return self.large_request_in(id, end);
        }
        join_cookies(check, head.get_or_insert_default(), cookies);
        let facts = check.request(self.local.newest().connect_protocol)?;
        // DATA of a CONNECT stream is the tunnel's, so a stated length has no meaning (RFC 9113 §8.5).
        let content = Content::stated(check.content_length.filter(|_| !facts.is_connect));
        let content = content.check(0, end).map_err(|_| Violation::CONTENT_LENGTH_MISMATCH)?;
        let stream = self.begin_request(id, end, facts)?;
        if let Some(entry) = self.streams.get_mut(stream) {
            entry.content_in = content;
            entry.has_head = true;
            core::mem::swap(&mut entry.head, &mut self.block.head);
        }
        if self.block.check.priority.is_some() || self.updates.are_foretold() {
            self.set_first_priority(stream, id, self.block.check.priority);
        }
        Ok(Some(Event::Head { stream, end }))
    }

    #[inline]
    fn begin_request(&mut self, id: u32, end: bool, facts: RequestFacts) -> Result<StreamKey, Violation> {
        let state = State::IDLE.received(Incoming::Headers { end_stream: end })?;
        let (stream, entry) = self.open_stream(id);
        entry.state = state;
        entry.is_head_request = facts.is_head;
        entry.is_connect = facts.is_connect;
        Ok(stream)
    }

    /// Announces a request that was not kept, for the application to refuse.
    #[cold]
    fn large_request_in(&mut self, id: u32, end: bool) -> Result<Option<Event<'static>>, Violation> {
        if let Some(rule) = self.block.check.violation() {
            return Err(rule);
        }
        self.note_large_section();
        self.lay_out_refused_head();
        let facts = RequestFacts { is_connect: false, ..self.block.check.method_facts() };
        let stream = self.begin_request(id, end, facts)?;
        Ok(Some(Event::HeadTooLarge { stream, end }))
    }

    #[inline]
    fn response_in(&mut self, stream: StreamKey, end: bool) -> Result<Option<Event<'static>>, Violation> {
        let Some(entry) = self.streams.get_mut(stream) else { return Ok(None) };
        let Block { check, head, .. } = &mut self.block;
        if check.is_too_large() {
            let rule = check.violation().unwrap_or(Violation::FIELDS_TOO_LARGE);
            self.note_large_section();
            return Err(rule);
        }
        let status = check.response(head.get_or_insert_default(), entry.is_connect)?;
        if status.is_interim() {
            entry.state = entry.state.received(Incoming::Interim { end_stream: end })?;
            entry.interim += 1;
            entry.interim_bytes = entry.interim_bytes.saturating_add(check.size as u32);
            if entry.interim_bytes > self.config.limits.field_section_bytes {
                let [seen, bound] =
                    [entry.interim_bytes, self.config.limits.field_section_bytes].map(u64::from);
                self.exceeded = Some(Exceeded::INTERIM_SECTION_BYTES.of(seen, bound));
                return Err(Violation::INTERIM_FLOOD);
            }
            if entry.interim > self.config.limits.interim_responses {
                let [seen, bound] = [entry.interim, self.config.limits.interim_responses].map(u64::from);
                self.exceeded = Some(Exceeded::INTERIM_RESPONSES.of(seen, bound));
                return Err(Violation::INTERIM_FLOOD);
            }
        } else {
            let next = entry.state.received(Incoming::Headers { end_stream: end })?;
            let is_tunnel = entry.is_connect && status.is_success();
            let content = match status.as_u16() {
                _ if is_tunnel => Content::UNSTATED,
                _ if entry.is_head_request => Content::NONE,
                204 | 304 => Content::NONE,
                _ => Content::stated(check.content_length),
            };
            entry.content_in = content.check(0, end).map_err(|_| Violation::CONTENT_LENGTH_MISMATCH)?;
            entry.state = next;
            if is_tunnel {
                entry.is_tunnel = true;
                entry.content_out = Content::UNSTATED;
            }
        }
        entry.has_head = true;
        core::mem::swap(&mut entry.head, head);
        if status.is_interim() {
            return Ok(Some(Event::Interim { stream }));
        }
        self.close_if_ended(stream);
        Ok(Some(Event::Head { stream, end }))
    }

    fn trailers_in(&mut self, stream: StreamKey, end: bool) -> Result<Option<Event<'static>>, Violation> {
        let Some(entry) = self.streams.get_mut(stream) else { return Ok(None) };
        let Block { check, head, .. } = &mut self.block;
        if let Some(rule) = check.violation() {
            return Err(rule);
        }
        if check.is_too_large() {
            self.note_large_section();
            return Err(Violation::FIELDS_TOO_LARGE);
        }
        let next = entry.state.received(Incoming::Headers { end_stream: end })?;
        entry.content_in = entry.content_in.check(0, true).map_err(|_| Violation::CONTENT_LENGTH_MISMATCH)?;
        entry.state = next;
        if next.is_draining() {
            self.end_draining(stream);
            return Ok(None);
        }
        entry.has_trailers = true;
        core::mem::swap(&mut entry.trailers, &mut head.get_or_insert_default().fields);
        self.close_if_ended(stream);
        Ok(Some(Event::Trailers { stream }))
    }
}
