//! The machine's own output and its deadlines: a queue of control frames, and the times at which it has to be
//! called.

use core::time::Duration;

use alula_machine::{Exceeded, OutBuf, StreamKey, Time};

use super::Connection;
use crate::error::{ConnectionError, SendError};
use crate::frame::settings::Settings;
use crate::frame::{FrameHeader, FrameKind, HEADER_BYTES, MAX_31, SETTINGS_ACK, ping, window_update};
use crate::guard::violation::Violation;

/// The first payload bytes of PING frames that the machine itself sends.
pub(super) const KEEP_ALIVE: [u8; 8] = *b"alive?\0\0";
pub(super) const GRACE: [u8; 8] = *b"going\0\0\0";

impl Connection {
    /// Appends the waiting control frames, and returns their length. Cheap when there are none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, out: &mut OutBuf) -> usize {
        self.timers.start(now, &self.config);
        if !self.wants_write() {
            return 0;
        }
        if self.local.await_ack() {
            self.timers.settings_sent(now, &self.config);
        }
        if self.going.is_announced && self.going.last_sent.is_none() {
            self.timers.grace_begins(now, &self.config);
        }
        if self.draining.is_untimed() {
            self.draining.set_deadlines(now.saturating_add(self.config.limits.linger_timeout));
        }
        self.measure_if_due(now);
        let before = out.len();
        self.flush(out);
        out.len() - before
    }

    /// Returns true if [`poll_transmit`](Self::poll_transmit) has something to append.
    #[inline]
    pub fn wants_write(&self) -> bool {
        !self.pending.is_empty() || self.growth.is_due() || self.draining.is_untimed()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due; it may move with every
    /// frame. Earlier calls do no harm.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.error.is_some() {
            return None;
        }
        let due = self.timers.due(self.open > 0, &self.config).min(self.draining.due());
        (due != Time::FAR).then_some(due)
    }

    /// Does what is due: sends pings, or ends the connection if the peer has not answered in time (then
    /// [`Notice::Closed`](crate::Notice::Closed) follows).
    pub fn handle_timeout(&mut self, now: Time) {
        if self.error.is_some() {
            return;
        }
        if let Some(awaited) = self.timers.overdue(now) {
            self.fail(ConnectionError::TimedOut(awaited));
            return;
        }
        if now >= self.draining.due() {
            self.cut_overdue(now);
        }
        self.timers.end_wait_for_pong(now);
        if self.timers.is_grace_over(now) {
            self.finish_grace();
        }
        if now >= self.timers.keep_alive_due(self.open > 0, &self.config) {
            self.timers.keep_alive_sent(now, &self.config);
            self.queue(&ping(false, KEEP_ALIVE));
        }
    }

    /// Asks the peer whether it is still there, with a PING unless one of keep-alive is on its way. The
    /// connection ends with [`TimedOut`](ConnectionError::TimedOut) if no frame comes within this time, or
    /// within [`ping_timeout`](crate::Config::ping_timeout) if that is shorter.
    pub fn ask(&mut self, now: Time, within: Duration) {
        if self.error.is_none() && self.timers.ask(now, within.min(self.config.ping_timeout)) {
            self.queue(&ping(false, KEEP_ALIVE));
        }
    }

    /// Sends a PING; the answer is [`Fact::Pong`](crate::Fact::Pong) with the same payload.
    ///
    /// # Errors
    /// When the one before is unanswered, or the connection is closed.
    pub fn ping(&mut self, payload: [u8; 8]) -> Result<(), SendError> {
        if self.error.is_some() {
            return Err(SendError::Closed);
        }
        if self.ping.is_some() {
            return Err(SendError::PingPending);
        }
        self.ping = Some(payload);
        self.queue(&ping(false, payload));
        Ok(())
    }

    /// Sends changed settings to the peer; they hold once it has acknowledged them. Push stays off.
    ///
    /// # Errors
    /// When a value is out of range, or takes back what cannot be taken back, or makes the window of a stream
    /// that has grown larger than 2^31-1, or the connection is closed.
    pub fn update_settings(&mut self, settings: Settings) -> Result<(), SendError> {
        if self.error.is_some() {
            return Err(SendError::Closed);
        }
        // There is no push: neither role has code for it (RFC 9113 §8.4).
        let settings = Settings { push: false, ..settings };
        if !settings.may_follow(self.local.newest()) || !self.have_windows_room(settings.stream_window) {
            return Err(SendError::Setting);
        }
        self.queue_settings(settings);
        Ok(())
    }

    /// Returns true if the windows of all streams stay within 2^31-1 after the change (RFC 9113 §6.9.2).
    fn have_windows_room(&self, stream_window: u32) -> bool {
        let from = self.local.acknowledged().stream_window;
        self.streams.iter().all(|entry| entry.window_in.has_room(from, stream_window))
    }

    /// Makes the connection's receive window larger, at once; the same size changes nothing.
    ///
    /// # Errors
    /// When the size is smaller than the window or above 2^31-1, or the connection is closed.
    pub fn grow_window(&mut self, bytes: u32) -> Result<(), SendError> {
        if self.error.is_some() {
            return Err(SendError::Closed);
        }
        let increment = bytes.checked_sub(self.window_in.size()).ok_or(SendError::Setting)?;
        if bytes > MAX_31 {
            return Err(SendError::Setting);
        }
        if increment > 0 && self.window_in.grow(increment).is_ok() {
            self.queue_window_update(0, increment);
            self.credit_connection(0);
        }
        Ok(())
    }

    /// Makes one stream's receive window larger, at once; the same size changes nothing.
    ///
    /// # Errors
    /// When the size is smaller than the window or above 2^31-1, also with what settings on their way add to
    /// it, or the stream is gone.
    pub fn grow_stream_window(&mut self, stream: StreamKey, bytes: u32) -> Result<(), SendError> {
        let entry = self.streams.get_mut(stream).ok_or(SendError::UnknownStream)?;
        let increment = bytes.checked_sub(entry.window_in.size()).ok_or(SendError::Setting)?;
        // WINDOW_UPDATE for a half that has ended would be useless to the peer.
        if increment == 0 || !entry.state.is_receiving() {
            return Ok(());
        }
        let id = entry.id;
        if bytes > MAX_31 - self.local.window_rise() {
            return Err(SendError::Setting);
        }
        entry.window_in.grow(increment).map_err(|_| SendError::Setting)?;
        self.queue_window_update(id, increment);
        Ok(())
    }
}

/// Queueing of frames.
impl Connection {
    /// Moves waiting frames into the driver's buffer, before anything else is written there.
    #[inline]
    pub(super) fn flush(&mut self, out: &mut OutBuf) {
        if !self.pending.is_empty() || self.window_in.is_worth_company() {
            self.flush_all(out);
        }
    }

    /// Moves waiting frames, and announces the connection's window along with them, which saves a frame.
    fn flush_all(&mut self, out: &mut OutBuf) {
        if self.window_in.is_worth_company() {
            self.announce_now();
        }
        // An empty buffer takes the pending one whole, without a copy.
        if out.capacity() == 0 {
            core::mem::swap(out, &mut self.pending);
        } else {
            out.extend(self.pending.unsent());
            self.pending.clear();
        }
        self.acks = 0;
    }

    /// Queues a frame, or the part of one before its debug data.
    #[inline]
    pub(super) fn queue(&mut self, frame: &[u8]) {
        self.pending.extend(frame);
        if let Some((header, payload)) = frame.split_first_chunk::<HEADER_BYTES>() {
            self.sent(FrameHeader::parse(header), payload);
        }
    }

    /// Counts a sent frame.
    #[inline]
    pub(super) fn sent(&mut self, header: FrameHeader, payload: &[u8]) {
        self.counters.frame_out(header.kind);
        self.trace.record(true, header, payload);
    }

    pub(super) fn queue_settings(&mut self, settings: Settings) {
        let frame = settings.frame(self.local.newest(), self.is_client);
        self.queue(frame.bytes());
        self.local.sent(settings);
    }

    /// Queues an acknowledgment, unless the peer does not read the earlier ones.
    pub(super) fn queue_ack(&mut self, frame: &[u8]) -> Result<(), ConnectionError> {
        debug_assert!(frame == SETTINGS_ACK || FrameKind(frame[3]) == FrameKind::PING);
        // A peer that sends PING and SETTINGS but does not read would fill our memory with answers (RFC 9113
        // §10.5).
        if self.acks >= self.config.limits.queued_acks {
            let [seen, bound] = [self.acks.saturating_add(1), self.config.limits.queued_acks].map(u64::from);
            self.exceeded = Some(Exceeded::QUEUED_ACKS.of(seen, bound));
            return Err(ConnectionError::Peer(Violation::TOO_MANY_ACKS));
        }
        self.acks += 1;
        self.queue(frame);
        Ok(())
    }

    pub(super) fn queue_window_update(&mut self, id: u32, increment: u32) {
        self.queue(&window_update(id, increment));
        self.note_announced(id, increment);
    }

    pub(super) fn queue_grace_ping(&mut self) {
        self.queue(&ping(false, GRACE));
    }

    /// Names the last stream, after the peer has learned that we are going away or has had its time.
    pub(super) fn finish_grace(&mut self) {
        self.timers.grace_ends();
        if self.going.last_sent.is_none() {
            self.queue_last_goaway();
        }
    }

    /// Gives bytes back to the connection's window, and announces them if that is worth a frame.
    #[inline]
    pub(super) fn credit_connection(&mut self, bytes: u32) {
        self.window_in.release(bytes);
        if let Some(increment) = self.window_in.update() {
            self.queue_window_update(0, increment);
            self.occasion_to_measure(None);
        }
    }

    /// Announces the bytes that the connection's window has regained. A window that is mostly free is not
    /// measured: it is surely not too small.
    fn announce_now(&mut self) {
        let is_mostly_used = 2 * self.window_in.available() < i64::from(self.window_in.size());
        let increment = self.window_in.announce();
        self.queue_window_update(0, increment);
        if is_mostly_used {
            self.occasion_to_measure(None);
        }
    }

    /// Announces the bytes that a stream's window has regained, if they are worth a frame; never after
    /// END_STREAM.
    #[inline]
    pub(super) fn update_stream_window(&mut self, stream: StreamKey) {
        let Some(entry) = self.streams.get_mut(stream) else { return };
        if !entry.state.is_receiving() {
            return;
        }
        let id = entry.id;
        if let Some(increment) = entry.window_in.update() {
            self.queue_window_update(id, increment);
            self.occasion_to_measure(Some(stream));
        }
    }
}
