//! Splits bytes into frames: the position within a frame, and the frames that are allowed there.
//!
//! Nothing is assembled but headers and small payloads: fields go to the decoder and DATA to the driver as
//! they come. Each step ends with an event, with more to do, or for want of input.

use alula_machine::Time;

use super::Connection;
use crate::error::ConnectionError;
use crate::event::Received;
use crate::frame::phase::{Phase, Step};
use crate::frame::{FrameHeader, FrameKind, MAGIC, flag};
use crate::guard::violation::Violation;

impl Connection {
    /// Takes input up to the first event. To be called again with what is left until there is neither an
    /// event nor anything left. Whatever the pieces the input comes in, the events are the same, but that
    /// DATA is told of in smaller pieces.
    ///
    /// # Errors
    /// When the peer has broken a rule that ends the connection. GOAWAY is queued; nothing more can be
    /// received.
    ///
    /// # Allocation
    /// None once slots, heads and tables are warm.
    #[inline]
    pub fn receive<'i>(&mut self, input: &'i [u8], now: Time) -> Result<Received<'i>, ConnectionError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        // Every phase that is left behind waits for input, so there is nothing to do without; drivers ask to
        // be sure.
        if input.is_empty() {
            return Ok(Received { consumed: 0, event: None });
        }
        self.receive_some(input, now)
    }

    fn receive_some<'i>(&mut self, input: &'i [u8], now: Time) -> Result<Received<'i>, ConnectionError> {
        self.timers.start(now, &self.config);
        let mut rest = input;
        loop {
            match self.step(&mut rest, now) {
                Ok(Step::More) => {}
                Ok(Step::Starved) => {
                    self.timers.head_pauses(self.is_in_head(), now, &self.config);
                    return Ok(Received { consumed: input.len() - rest.len(), event: None });
                }
                Ok(Step::Event(event)) => {
                    if !self.is_in_head() {
                        self.timers.head_ends();
                    }
                    return Ok(Received { consumed: input.len() - rest.len(), event: Some(event) });
                }
                Err(error) => return Err(self.fail(error)),
            }
        }
    }

    /// Returns true if the peer has begun a field block, or a frame other than DATA, and not ended it. DATA
    /// may take its time.
    #[inline]
    fn is_in_head(&self) -> bool {
        match self.phase {
            Phase::Header => !self.hold.is_empty() || self.block.unfinished().is_some(),
            Phase::Magic { .. } | Phase::Data { .. } | Phase::Skip { .. } => false,
            _ => true,
        }
    }

    #[inline]
    fn step<'i>(&mut self, rest: &mut &'i [u8], now: Time) -> Result<Step<'i>, ConnectionError> {
        match self.phase {
            Phase::Header if rest.is_empty() => Ok(Step::Starved),
            Phase::Header => match self.hold.read(rest, FrameHeader::parse) {
                Some(header) => self.frame(header, rest, now),
                None => Ok(Step::Starved),
            },
            _ => self.go_on(rest, now),
        }
    }

    /// Goes on within a frame; in a function of its own, so that complete frames need no room for it.
    #[inline(never)]
    fn go_on<'i>(&mut self, rest: &mut &'i [u8], now: Time) -> Result<Step<'i>, ConnectionError> {
        match self.phase {
            Phase::Header => Ok(Step::More),
            Phase::Fragment { left, padding, is_last } => self.fragment(left, padding, is_last, rest, now),
            Phase::Data { stream, left, padding, end } => Ok(self.data(stream, left, padding, end, rest)),
            Phase::Skip { left } => Ok(self.skip(left, rest)),
            Phase::Small(header) => self.small(header, rest, now),
            Phase::Settings { left } => self.settings(left, rest, now),
            Phase::HeadersPrefix(header) => self.headers_prefix(header, rest, now),
            Phase::DataPrefix(header) => match self.hold.gather::<1>(rest) {
                Some([padding]) => self.data_frame(header, Some(padding), now),
                None => Ok(Step::Starved),
            },
            Phase::PriorityValue { header, left } => self.priority_value(header, left, rest, now),
            Phase::GoAwayDebug { left, last, code } => self.goaway_words(left, last, code, rest),
            Phase::Magic { matched } => self.magic(matched, rest),
        }
    }

    /// Passes each frame to its handler, if it is allowed now.
    #[inline]
    fn frame<'i>(
        &mut self,
        header: FrameHeader,
        rest: &mut &'i [u8],
        now: Time,
    ) -> Result<Step<'i>, ConnectionError> {
        self.timers.frame_here(now);
        self.counters.frame_in(header.kind);
        let is_small = matches!(
            header.kind,
            FrameKind::RST_STREAM
                | FrameKind::PING
                | FrameKind::GOAWAY
                | FrameKind::WINDOW_UPDATE
                | FrameKind::PRIORITY_UPDATE
        );
        match is_small {
            true => self.trace.begin(header),
            false => self.trace.record(false, header, &[]),
        }
        self.check_place(header)?;
        if self.block.unfinished().is_none() {
            self.timers.head_ends();
        }
        match header.kind {
            FrameKind::HEADERS => self.headers_header(header, rest, now),
            FrameKind::DATA => self.data_header(header, rest, now),
            FrameKind::CONTINUATION => self.continuation_header(header),
            FrameKind::PUSH_PROMISE => Err(Violation::PUSH_PROMISE.into()),
            FrameKind::SETTINGS => self.settings_header(header, now),
            FrameKind::PRIORITY
            | FrameKind::RST_STREAM
            | FrameKind::PING
            | FrameKind::GOAWAY
            | FrameKind::WINDOW_UPDATE => self.small_header(header, now),
            FrameKind::PRIORITY_UPDATE => self.priority_update_header(header),
            _ => {
                self.glitch(1, now)?;
                Ok(self.skip_next(header.length))
            }
        }
    }

    /// Checks the rules that do not depend on a frame's stream (RFC 9113 §3.4, §4.2, §4.3).
    #[inline]
    fn check_place(&self, header: FrameHeader) -> Result<(), Violation> {
        if !self.has_settings && !self.may_come_first(header) {
            return Err(Violation::SETTINGS_NOT_FIRST);
        }
        if header.length > self.local.acknowledged().frame_bytes_max {
            return Err(Violation::FRAME_TOO_LARGE);
        }
        let continues = header.kind == FrameKind::CONTINUATION;
        match self.block.unfinished() {
            None if continues => Err(Violation::CONTINUATION_UNEXPECTED),
            Some(stream) if !continues || stream != header.stream => Err(Violation::BLOCK_INTERRUPTED),
            _ => Ok(()),
        }
    }

    /// Returns true if the frame may come first, which only SETTINGS may. A server that takes no connections
    /// may say GOAWAY instead, which a client hears: it says why.
    fn may_come_first(&self, header: FrameHeader) -> bool {
        let is_settings = header.kind == FrameKind::SETTINGS && !header.has(flag::ACK);
        is_settings || (self.is_client && header.kind == FrameKind::GOAWAY)
    }

    #[cold]
    fn magic(&mut self, matched: usize, rest: &mut &[u8]) -> Result<Step<'static>, ConnectionError> {
        let expected = &MAGIC[matched..];
        let len = expected.len().min(rest.len());
        let (bytes, after) = rest.split_at(len);
        if bytes != &expected[..len] {
            return Err(Violation::BAD_PREFACE.into());
        }
        *rest = after;
        if len < expected.len() {
            self.phase = Phase::Magic { matched: matched + len };
            return Ok(Step::Starved);
        }
        self.phase = Phase::Header;
        Ok(Step::More)
    }

    /// Skips so many bytes.
    #[inline]
    pub(super) fn skip_next(&mut self, left: u32) -> Step<'static> {
        self.phase = if left == 0 { Phase::Header } else { Phase::Skip { left } };
        Step::More
    }

    #[inline]
    fn skip(&mut self, left: u32, rest: &mut &[u8]) -> Step<'static> {
        let len = rest.len().min(left as usize);
        *rest = &rest[len..];
        if len == left as usize {
            self.phase = Phase::Header;
            return Step::More;
        }
        self.phase = Phase::Skip { left: left - len as u32 };
        Step::Starved
    }
}
