//! Received DATA (RFC 9113 §6.1): first the windows, then the stream, then the content.
//!
//! A frame is charged whole when its header is here, and judged then: against the windows, the stream's state
//! and `content-length`. No byte of a frame that breaks a rule reaches the driver, however the frame is cut.

use alula_machine::{StreamKey, Time};

use super::Connection;
use crate::error::ConnectionError;
use crate::event::Event;
use crate::flow::window::WindowExceeded;
use crate::frame::phase::{Phase, Step};
use crate::frame::{FrameHeader, flag};
use crate::guard::violation::Violation;
use crate::stream::absent::Frame;
use crate::stream::half::Incoming;

impl Connection {
    #[inline]
    pub(super) fn data_header<'i>(
        &mut self,
        header: FrameHeader,
        rest: &mut &'i [u8],
        now: Time,
    ) -> Result<Step<'i>, ConnectionError> {
        if header.stream == 0 {
            return Err(Violation::DATA_ON_CONNECTION.into());
        }
        if !header.has(flag::PADDED) {
            self.data_frame(header, None, now)?;
            return match self.phase {
                Phase::Data { stream, left, padding, end } => Ok(self.data(stream, left, padding, end, rest)),
                _ => Ok(Step::More),
            };
        }
        if header.length == 0 {
            return Err(Violation::FRAME_TOO_SHORT.into());
        }
        self.phase = Phase::DataPrefix(header);
        Ok(Step::More)
    }

    /// Takes a frame after its padding length was read.
    #[inline]
    pub(super) fn data_frame(
        &mut self,
        header: FrameHeader,
        padding: Option<u8>,
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        let padding = padding.map(u32::from);
        let overhead = padding.map_or(0, |bytes| bytes + 1);
        let length = header.length.checked_sub(overhead).ok_or(Violation::PADDING_TOO_LONG)?;
        // The connection's window counts every DATA frame, even one for a stream that is gone (RFC 9113
        // §6.9).
        self.window_in.receive(header.length, overhead).map_err(|_| WindowExceeded::ON_CONNECTION)?;
        let end = header.has(flag::END_STREAM);
        let verdict = match self.streams.find(header.stream) {
            Some(stream) => self.charge(stream, header.length, length, end).map(|()| stream).map_err(Some),
            None => Err(None),
        };
        self.credit_connection(0);
        let padding = padding.unwrap_or(0);
        match verdict {
            Ok(stream) => {
                self.data_came(now);
                self.take_data(stream, length, padding, end, now)
            }
            Err(broken) => {
                // Nobody will consume this content, so the connection's window gets it back at once.
                self.credit_connection(length);
                match broken {
                    Some(rule) => self.breach(header.stream, rule, now)?,
                    None => self.absent_in(header.stream, Frame::Data, length, now)?,
                }
                Ok(self.skip_next(length + padding))
            }
        }
    }

    /// Charges the stream with a frame, or returns the rule that the frame breaks and leaves the stream
    /// unchanged.
    #[inline]
    fn charge(&mut self, stream: StreamKey, frame: u32, length: u32, end: bool) -> Result<(), Violation> {
        let Some(entry) = self.streams.get_mut(stream) else { return Ok(()) };
        let state = entry.state.received(Incoming::Data { end_stream: end })?;
        let content = entry.content_in.check(u64::from(length), end);
        entry.window_in.receive(frame, frame - length).map_err(|_| WindowExceeded::ON_STREAM)?;
        entry.content_in = match content {
            Ok(content) => content,
            Err(_) => {
                // The reset that follows gives the window back; only what this frame charged must not be
                // counted twice.
                entry.window_in.release(length);
                return Err(Violation::CONTENT_LENGTH_MISMATCH);
            }
        };
        entry.state = state;
        if !end {
            self.update_stream_window(stream);
        }
        Ok(())
    }

    #[inline]
    fn take_data(
        &mut self,
        stream: StreamKey,
        length: u32,
        padding: u32,
        end: bool,
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        // An empty DATA frame that ends nothing is legal and useless (RFC 9113 §10.5).
        if length == 0 && !end {
            self.glitch(1, now)?;
            return Ok(self.skip_next(padding));
        }
        if !end {
            self.pay_frame_cost(length, now)?;
        }
        self.phase = Phase::Data { stream, left: length, padding, end };
        Ok(Step::More)
    }

    /// Charges the overhead of a frame, and credits its content; a peer that sends nearly empty frames runs
    /// out, unless the application takes the content, as it does with streams of small messages. Running dry
    /// is a glitch.
    #[inline]
    fn pay_frame_cost(&mut self, length: u32, now: Time) -> Result<(), ConnectionError> {
        self.earn_frame_cost(length);
        match self.frame_budget.checked_sub(self.config.limits.frame_cost_bytes) {
            Some(left) => self.frame_budget = left,
            None => {
                self.frame_budget = self.config.limits.frame_budget_bytes;
                self.glitch(1, now)?;
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn earn_frame_cost(&mut self, bytes: u32) {
        self.frame_budget =
            self.frame_budget.saturating_add(bytes).min(self.config.limits.frame_budget_bytes);
    }

    /// Returns the available content; the piece that ends it ends the frame's half of the stream, too.
    #[inline]
    pub(super) fn data<'i>(
        &mut self,
        stream: StreamKey,
        left: u32,
        padding: u32,
        end: bool,
        rest: &mut &'i [u8],
    ) -> Step<'i> {
        let (bytes, after) = rest.split_at(rest.len().min(left as usize));
        if bytes.is_empty() && left > 0 {
            return Step::Starved;
        }
        *rest = after;
        let left = left - bytes.len() as u32;
        let end_now = end && left == 0;
        if left == 0 {
            self.skip_next(padding);
        } else {
            self.phase = Phase::Data { stream, left, padding, end };
        }
        // The application may have given the stream up, which has credited the whole frame.
        let Some(entry) = self.streams.get_mut(stream) else { return Step::More };
        if !entry.state.is_heard() {
            return self.drop_data(stream, bytes.len() as u32, end_now);
        }
        if end_now && let Ok(state) = entry.state.received(Incoming::LastByte) {
            entry.state = state;
            self.close_if_ended(stream);
        }
        Step::Event(Event::Data { stream, bytes, end: end_now })
    }

    /// Charges a frame for a stream that was given up while the frame was on its way. It is ignored, but
    /// costs as much as other frames: no peer has much on its way that is next to nothing.
    #[cold]
    pub(super) fn late_frame(&mut self, length: u32, now: Time) -> Result<(), ConnectionError> {
        self.counters.late_frames = self.counters.late_frames.wrapping_add(1);
        self.pay_frame_cost(length, now)
    }
}
