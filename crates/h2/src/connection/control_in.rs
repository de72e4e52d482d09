//! Frames that are not messages: SETTINGS, PING, GOAWAY, WINDOW_UPDATE, RST_STREAM, PRIORITY.

use alula_machine::{Exceeded, Time};

use super::growth::MEASURE;
use super::output::{GRACE, KEEP_ALIVE};
use super::{Connection, UPDATES_PER_DATA};
use crate::error::ConnectionError;
use crate::event::{Event, Fact, Origin, Reset};
use crate::frame::error_code::ErrorCode;
use crate::frame::phase::{Phase, Step};
use crate::frame::settings::{ENTRY_BYTES, SettingId, Settings};
use crate::frame::{FrameHeader, FrameKind, MAX_31, SETTINGS_ACK, flag, ping};
use crate::guard::violation::Violation;
use crate::stream::absent::Frame;
use crate::stream::closed_ids::Closed;
use crate::stream::state::State;
use crate::stream::streams::Queue;

/// SETTINGS (RFC 9113 §6.5).
impl Connection {
    pub(super) fn settings_header(
        &mut self,
        header: FrameHeader,
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        if header.stream != 0 {
            return Err(Violation::SETTINGS_ON_STREAM.into());
        }
        if header.has(flag::ACK) {
            return match header.length {
                0 => self.settings_acknowledged(now),
                _ => Err(Violation::SETTINGS_ACK_LENGTH.into()),
            };
        }
        if !header.length.is_multiple_of(ENTRY_BYTES as u32) {
            return Err(Violation::SETTINGS_LENGTH.into());
        }
        if header.length > self.config.limits.settings_entries * ENTRY_BYTES as u32 {
            let entries = u64::from(header.length) / ENTRY_BYTES as u64;
            self.exceeded =
                Some(Exceeded::SETTINGS_ENTRIES.of(entries, self.config.limits.settings_entries.into()));
            return Err(Violation::SETTINGS_TOO_MANY.into());
        }
        self.phase = Phase::Settings { left: header.length };
        Ok(Step::More)
    }

    /// Applies entries in order as they are read (RFC 9113 §6.5.3); the last one is followed by the
    /// acknowledgment.
    pub(super) fn settings(
        &mut self,
        left: u32,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        if left > 0 {
            let Some([a, b, c, d, e, f]) = self.hold.gather::<ENTRY_BYTES>(rest) else {
                return Ok(Step::Starved);
            };
            self.setting(SettingId(u16::from_be_bytes([a, b])), u32::from_be_bytes([c, d, e, f]))?;
            self.phase = Phase::Settings { left: left - ENTRY_BYTES as u32 };
            return Ok(Step::More);
        }
        self.phase = Phase::Header;
        self.timers.settings_here();
        self.queue_ack(&SETTINGS_ACK)?;
        if core::mem::replace(&mut self.has_settings, true) {
            // Each may move the windows of all streams; nobody has a reason to send many.
            self.glitch(1, now)?;
        } else {
            self.offer_slots();
        }
        Ok(Step::Event(Event::Fact(Fact::Settings)))
    }

    fn setting(&mut self, id: SettingId, value: u32) -> Result<(), ConnectionError> {
        let before = self.peer;
        self.peer.set(id, value, self.is_client)?;
        // This setting must not change after the first SETTINGS (RFC 9218 §2.1).
        if self.has_settings && self.peer.no_rfc7540_priorities != before.no_rfc7540_priorities {
            return Err(Violation::SETTING_PRIORITIES.into());
        }
        match id {
            SettingId::HEADER_TABLE_SIZE => self.encoder.set_peer_table_limit(value),
            SettingId::INITIAL_WINDOW_SIZE => self.shift_send_windows(&before)?,
            SettingId::MAX_CONCURRENT_STREAMS => self.offer_slots(),
            _ => {}
        }
        Ok(())
    }

    /// Moves the send window of each open stream by the difference, below zero if need be (RFC 9113 §6.9.2).
    fn shift_send_windows(&mut self, before: &Settings) -> Result<(), ConnectionError> {
        let delta = i64::from(self.peer.stream_window) - i64::from(before.stream_window);
        for slot in 0..self.streams.slots() {
            let Some(stream) = self.streams.key_at(slot) else { continue };
            let Some(entry) = self.streams.get_mut(stream) else { continue };
            // A stream that sends nothing more cannot overflow its window.
            if !entry.state.is_open() || entry.state.has_sent_all() {
                continue;
            }
            entry.window_out.shift(delta).map_err(|_| Violation::SETTINGS_WINDOW_OVERFLOW)?;
            if entry.is_blocked && entry.window_out.available() > 0 {
                self.streams.enqueue(Queue::Writable, stream);
            }
        }
        Ok(())
    }

    fn settings_acknowledged(&mut self, now: Time) -> Result<Step<'static>, ConnectionError> {
        self.phase = Phase::Header;
        // An acknowledgment of nothing is useless, but no error by RFC 9113 §6.5.3.
        let Some((before, settings)) = self.local.acknowledge() else {
            self.glitch(1, now)?;
            return Ok(Step::More);
        };
        self.timers.settings_acknowledged(self.local.await_ack(), now, &self.config);
        // The peer's encoder is bound by our table size only from its acknowledgment on (RFC 7541 §4.2).
        if before.table_bytes != settings.table_bytes {
            self.decoder.set_table_limit(settings.table_bytes);
        }
        if before.stream_window != settings.stream_window {
            self.resize_receive_windows(before.stream_window, settings.stream_window);
        }
        Ok(Step::Event(Event::Fact(Fact::SettingsAcknowledged)))
    }

    fn resize_receive_windows(&mut self, from: u32, to: u32) {
        for slot in 0..self.streams.slots() {
            let Some(stream) = self.streams.key_at(slot) else { continue };
            if let Some(entry) = self.streams.get_mut(stream) {
                entry.window_in.resize(from, to);
            }
            self.update_stream_window(stream);
        }
    }
}

/// Frames whose payload is small and of fixed length.
impl Connection {
    pub(super) fn small_header(
        &mut self,
        header: FrameHeader,
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        let on_connection = header.stream == 0;
        match header.kind {
            FrameKind::PRIORITY if on_connection => return Err(Violation::PRIORITY_ON_CONNECTION.into()),
            // A stream error, unlike wrong lengths of the other frames (RFC 9113 §6.3).
            FrameKind::PRIORITY if header.length != 5 => {
                self.breach(header.stream, Violation::PRIORITY_LENGTH, now)?;
                return Ok(self.skip_next(header.length));
            }
            FrameKind::RST_STREAM if on_connection => return Err(Violation::RST_STREAM_ON_CONNECTION.into()),
            FrameKind::RST_STREAM if header.length != 4 => return Err(Violation::RST_STREAM_LENGTH.into()),
            FrameKind::WINDOW_UPDATE if header.length != 4 => {
                return Err(Violation::WINDOW_UPDATE_LENGTH.into());
            }
            FrameKind::PING if !on_connection => return Err(Violation::PING_ON_STREAM.into()),
            FrameKind::PING if header.length != 8 => return Err(Violation::PING_LENGTH.into()),
            FrameKind::GOAWAY if !on_connection => return Err(Violation::GOAWAY_ON_STREAM.into()),
            FrameKind::GOAWAY if header.length < 8 => return Err(Violation::GOAWAY_LENGTH.into()),
            _ => {}
        }
        self.phase = Phase::Small(header);
        Ok(Step::More)
    }

    pub(super) fn small(
        &mut self,
        header: FrameHeader,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        match header.kind {
            FrameKind::PRIORITY => {
                let Some([a, b, c, d, _]) = self.hold.gather::<5>(rest) else { return Ok(Step::Starved) };
                self.phase = Phase::Header;
                self.priority_in(header.stream, u32::from_be_bytes([a, b, c, d]) & MAX_31, now)
            }
            FrameKind::PING | FrameKind::GOAWAY => {
                let Some(payload) = self.hold.gather::<8>(rest) else { return Ok(Step::Starved) };
                self.trace.record(false, header, &payload);
                self.phase = Phase::Header;
                if header.kind == FrameKind::PING {
                    return self.ping_in(header.has(flag::ACK), payload, now);
                }
                self.goaway_in(header, payload)
            }
            _ => {
                let Some(payload) = self.hold.gather::<4>(rest) else { return Ok(Step::Starved) };
                if header.kind == FrameKind::PRIORITY_UPDATE {
                    return self.priority_update_stream(header, u32::from_be_bytes(payload));
                }
                self.trace.record(false, header, &payload);
                self.phase = Phase::Header;
                let value = u32::from_be_bytes(payload);
                match header.kind {
                    FrameKind::WINDOW_UPDATE => self.window_update_in(header.stream, value & MAX_31, now),
                    _ => self.rst_stream_in(header.stream, ErrorCode(value), now),
                }?;
                Ok(Step::More)
            }
        }
    }

    /// Handles PRIORITY, which has no effect any more (RFC 9113 §5.3.2), but for the one rule that a test
    /// suite still checks.
    pub(super) fn priority_in(
        &mut self,
        id: u32,
        depends_on: u32,
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        self.counters.priorities_ignored = self.counters.priorities_ignored.wrapping_add(1);
        if id == depends_on {
            self.breach(id, Violation::SELF_DEPENDENCY, now)?;
        } else {
            self.glitch(1, now)?;
        }
        Ok(Step::More)
    }

    fn ping_in(
        &mut self,
        is_ack: bool,
        payload: [u8; 8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        if !is_ack {
            self.queue_ack(&ping(true, payload))?;
            // While streams are open, some peers measure the path with pings, as often as there is data.
            if self.open == 0 {
                self.glitch(1, now)?;
            }
            return Ok(Step::More);
        }
        match payload {
            _ if self.ping == Some(payload) => {
                self.ping = None;
                return Ok(Step::Event(Event::Fact(Fact::Pong { payload })));
            }
            MEASURE if self.measured(now) => {}
            KEEP_ALIVE => self.timers.pong_here(),
            GRACE if self.going.is_announced => self.finish_grace(),
            _ => self.glitch(1, now)?,
        }
        Ok(Step::More)
    }

    fn goaway_in(&mut self, header: FrameHeader, payload: [u8; 8]) -> Result<Step<'static>, ConnectionError> {
        let [a, b, c, d, e, f, g, h] = payload;
        let last = u32::from_be_bytes([a, b, c, d]) & MAX_31;
        let code = ErrorCode(u32::from_be_bytes([e, f, g, h]));
        // A second GOAWAY may name a lower stream, never a higher one (RFC 9113 §6.8).
        if self.going.peer.is_some_and(|(before, _)| last > before) {
            return Err(Violation::GOAWAY_RAISED.into());
        }
        self.goaway_debug.clear();
        self.phase = Phase::GoAwayDebug { left: header.length - 8, last, code };
        Ok(Step::More)
    }

    /// Keeps the first bytes of the debug data. The frame takes effect once it is whole, so that who hears of
    /// it knows all.
    pub(super) fn goaway_words(
        &mut self,
        left: u32,
        last: u32,
        code: ErrorCode,
        rest: &mut &[u8],
    ) -> Result<Step<'static>, ConnectionError> {
        let (bytes, after) = rest.split_at(rest.len().min(left as usize));
        *rest = after;
        let room = DEBUG_KEPT_MAX - self.goaway_debug.len();
        self.goaway_debug.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let left = left - bytes.len() as u32;
        if left > 0 {
            self.phase = Phase::GoAwayDebug { left, last, code };
            return Ok(Step::Starved);
        }
        self.phase = Phase::Header;
        self.going.peer = Some((last, code));
        self.notices.goaway = true;
        // On a server, `last` counts pushed streams, and there are none.
        if self.is_client {
            self.reset_above(last);
        }
        Ok(Step::More)
    }

    #[inline]
    fn window_update_in(&mut self, id: u32, increment: u32, now: Time) -> Result<(), ConnectionError> {
        match self.updates_allowed.checked_sub(1) {
            Some(left) => self.updates_allowed = left,
            None => self.glitch(1, now)?,
        }
        if id == 0 {
            return self.connection_update(increment);
        }
        // WINDOW_UPDATE may arrive late for a stream that has closed (RFC 9113 §5.1).
        let Some(stream) = self.streams.find(id) else {
            return self.absent_in(id, Frame::WindowUpdate, 0, now);
        };
        if increment == 0 {
            return self.breach(id, Violation::ZERO_STREAM_INCREMENT, now);
        }
        let Some(entry) = self.streams.get_mut(stream) else { return Ok(()) };
        if entry.window_out.grow(increment).is_err() {
            return self.breach(id, Violation::STREAM_WINDOW_OVERFLOW, now);
        }
        if entry.is_blocked && entry.window_out.available() > 0 {
            self.streams.enqueue(Queue::Writable, stream);
        }
        Ok(())
    }

    fn connection_update(&mut self, increment: u32) -> Result<(), ConnectionError> {
        if increment == 0 {
            return Err(Violation::ZERO_INCREMENT.into());
        }
        self.window_out.grow(increment).map_err(|_| Violation::WINDOW_OVERFLOW.into())
    }

    fn rst_stream_in(&mut self, id: u32, code: ErrorCode, now: Time) -> Result<(), ConnectionError> {
        let Some(stream) = self.streams.find(id) else { return self.absent_in(id, Frame::RstStream, 0, now) };
        self.counters.resets_in = self.counters.resets_in.wrapping_add(1);
        let state = self.streams.get(stream).map_or(State::IDLE, |entry| entry.state);
        let (is_answered, is_draining) = (state.has_sent_all(), state.is_draining());
        // REFUSED_STREAM after a head contradicts itself, so the request counts as processed (RFC 9113 §8.7).
        let unprocessed = self.is_client && code == ErrorCode::REFUSED_STREAM && !state.has_received_head();
        self.reset_held_stream(
            stream,
            Reset { code, origin: Origin::Peer, unprocessed },
            Closed::ResetByPeer,
        );
        match self.is_client {
            // The client sends no more of what nobody wants (RFC 9113 §8.1), and no handler stops for it.
            false if is_draining => Ok(()),
            false if is_answered => self.glitch(1, now),
            false => self.note_reset(now),
            // A server that is overloaded may refuse all requests. A client is told NO_ERROR when a response
            // needs no more of the request.
            true if unprocessed || code == ErrorCode::NO_ERROR => Ok(()),
            // A server can reset no more streams than we open.
            true => self.glitch(1, now),
        }
    }

    /// Allows the peer more WINDOW_UPDATEs after a DATA frame of ours.
    #[inline]
    pub(super) fn allow_updates(&mut self) {
        self.updates_allowed = (self.updates_allowed + UPDATES_PER_DATA).min(100 * UPDATES_PER_DATA);
    }
}

/// The most bytes of debug data that are kept: enough for a sentence such as `too_many_pings`.
const DEBUG_KEPT_MAX: usize = 128;
