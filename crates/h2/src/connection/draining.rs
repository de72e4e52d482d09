//! Streams that were answered completely while their content was still on its way (RFC 9113 §8.1).
//!
//! A server may reset such a stream with NO_ERROR at once, but there are clients that lose the answer then:
//! those that still send when the reset comes. Small content may therefore end first: it is dropped as it
//! comes, and the stream counts as open until then. More than
//! [`Limits::drain_bytes`](alula_machine::Limits::drain_bytes), or content that takes longer than
//! [`Limits::linger_timeout`](alula_machine::Limits::linger_timeout), is cut off by the reset.

use alloc::vec::Vec;

use alula_machine::{StreamKey, Time};

use super::Connection;
use crate::frame::error_code::ErrorCode;
use crate::frame::phase::Step;
use crate::stream::closed_ids::Closed;
use crate::stream::half::Incoming;

/// The streams of a connection whose content is dropped to its end. Holds no memory before there was one.
#[derive(Debug)]
pub(super) struct Draining {
    streams: Vec<Drained>,
    /// True if one of the streams has no deadline yet.
    is_untimed: bool,
    /// A time not later than any of the deadlines.
    due: Time,
}

#[derive(Debug)]
struct Drained {
    stream: StreamKey,
    /// The bytes that may still come.
    left: u32,
    /// The deadline; [`Time::FAR`] until the driver has told the time.
    due: Time,
}

impl Draining {
    pub(super) const fn new() -> Self {
        Self { streams: Vec::new(), is_untimed: false, due: Time::FAR }
    }

    fn begin(&mut self, stream: StreamKey, bytes_max: u32) {
        self.streams.push(Drained { stream, left: bytes_max, due: Time::FAR });
        self.is_untimed = true;
    }

    pub(super) fn end(&mut self, stream: StreamKey) {
        self.streams.retain(|drained| drained.stream != stream);
    }

    /// Counts content of a stream; returns false if it is more than may come.
    fn take(&mut self, stream: StreamKey, bytes: u32) -> bool {
        let drained = self.streams.iter_mut().find(|drained| drained.stream == stream);
        let left = drained.and_then(|drained| Some((drained.left.checked_sub(bytes)?, drained)));
        left.map(|(left, drained)| drained.left = left).is_some()
    }

    /// Returns true if the driver should tell the time.
    #[inline]
    pub(super) const fn is_untimed(&self) -> bool {
        self.is_untimed
    }

    /// Sets the deadlines that are missing.
    pub(super) fn set_deadlines(&mut self, due: Time) {
        self.is_untimed = false;
        let untimed = self.streams.iter_mut().filter(|drained| drained.due == Time::FAR);
        untimed.for_each(|drained| drained.due = due);
        self.due = self.due.min(due);
    }

    /// Returns the time of the next check for overdue streams; [`Time::FAR`] is never.
    #[inline]
    pub(super) const fn due(&self) -> Time {
        self.due
    }

    fn find_overdue(&self, now: Time) -> Option<StreamKey> {
        self.streams.iter().find(|drained| drained.due <= now).map(|drained| drained.stream)
    }

    /// Finds the earliest remaining deadline.
    fn renew_due(&mut self) {
        self.due = self.streams.iter().map(|drained| drained.due).min().unwrap_or(Time::FAR);
    }

    pub(super) fn trim(&mut self) {
        self.streams.shrink_to_fit();
    }

    pub(super) fn count(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.streams.capacity() * size_of::<Drained>()
    }
}

impl Connection {
    /// Gives up the key of a stream that a server has answered completely, and lets the client finish its
    /// content if that is worth waiting for; otherwise resets the stream with NO_ERROR.
    pub(crate) fn drain(&mut self, stream: StreamKey) {
        if !self.is_worth_draining(stream) {
            return self.reset(stream, ErrorCode::NO_ERROR);
        }
        let Some(entry) = self.streams.get_mut(stream) else { return };
        entry.state = entry.state.drained();
        (entry.has_head, entry.has_trailers) = (false, false);
        let held = entry.window_in.held();
        entry.window_in.release(held);
        self.draining.begin(stream, self.config.limits.drain_bytes);
        self.update_stream_window(stream);
        self.credit_connection(held);
    }

    fn is_worth_draining(&self, stream: StreamKey) -> bool {
        let Some(entry) = self.streams.get(stream) else { return false };
        let bytes_max = u64::from(self.config.limits.drain_bytes);
        let is_small = bytes_max > 0 && entry.content_in.left().is_none_or(|left| left <= bytes_max);
        // The end of one direction of a tunnel says nothing of the other.
        let may_end = entry.state.is_receiving() && !entry.is_tunnel;
        !self.is_client && entry.state.has_sent_all() && may_end && is_small
    }

    /// Drops content of a stream that the application has released.
    #[cold]
    pub(super) fn drop_data(&mut self, stream: StreamKey, bytes: u32, end: bool) -> Step<'static> {
        let draining = self.streams.get_mut(stream).filter(|entry| entry.state.is_draining());
        let Some(entry) = draining else { return Step::More };
        let released = entry.window_in.release(bytes);
        if end && let Ok(state) = entry.state.received(Incoming::LastByte) {
            entry.state = state;
        }
        self.credit_connection(released);
        match self.draining.take(stream, bytes) {
            // The reset gives back what the rest of the frame has taken of the window.
            false => self.reset(stream, ErrorCode::NO_ERROR),
            true if end => self.end_draining(stream),
            true => self.update_stream_window(stream),
        }
        Step::More
    }

    /// Closes a stream whose content has ended.
    pub(super) fn end_draining(&mut self, stream: StreamKey) {
        self.draining.end(stream);
        self.close_if_ended(stream);
    }

    /// Closes a stream that was reset; the application has released it, and hears nothing.
    pub(super) fn cut_draining(&mut self, stream: StreamKey, how: Closed) {
        let Some(entry) = self.streams.get_mut(stream) else { return };
        let (state, held) = (entry.state.let_go(), entry.window_in.held());
        entry.window_in.release(held);
        self.draining.end(stream);
        self.end_stream(stream, state, how);
        self.streams.free(stream);
        self.credit_connection(held);
    }

    /// Resets the streams whose content has taken too long.
    #[cold]
    pub(super) fn cut_overdue(&mut self, now: Time) {
        while let Some(stream) = self.draining.find_overdue(now) {
            self.draining.end(stream);
            self.reset(stream, ErrorCode::NO_ERROR);
        }
        self.draining.renew_due();
    }
}
