//! The deadlines of a connection.

use core::time::Duration;

use alula_machine::Time;

use crate::config::Config;
use crate::error::Awaited;

/// Deadlines; `Time::FAR` is none. The times that the peer has are those of the configuration, which
/// connections share.
pub(super) struct Timers {
    is_started: bool,
    /// The peer's first SETTINGS must be here.
    handshake: Time,
    /// Our SETTINGS must be acknowledged.
    settings: Time,
    /// A head or frame that the peer has begun must be whole.
    head: Time,
    /// The time of the last frame.
    heard: Time,
    /// A keep-alive PING is out since then, and must be answered or followed by other frames until `pong`.
    pinged: Time,
    pong: Time,
    /// The last stream is named, whether the peer has answered or not.
    grace: Time,
}

impl Timers {
    pub(super) const fn new() -> Self {
        Self {
            is_started: false,
            handshake: Time::FAR,
            settings: Time::FAR,
            head: Time::FAR,
            heard: Time::ZERO,
            pinged: Time::ZERO,
            pong: Time::FAR,
            grace: Time::FAR,
        }
    }

    /// Time begins with the first call that says what time it is.
    #[inline]
    pub(super) fn start(&mut self, now: Time, config: &Config) {
        if !self.is_started {
            self.is_started = true;
            self.heard = now;
            self.handshake = now.saturating_add(config.limits.handshake_timeout);
        }
    }

    /// Returns the earliest deadline; [`Time::FAR`] if there is none.
    #[inline]
    pub(super) fn due(&self, has_streams: bool, config: &Config) -> Time {
        self.handshake
            .min(self.settings)
            .min(self.head)
            .min(self.pong)
            .min(self.grace)
            .min(self.keep_alive_due(has_streams, config))
    }

    #[inline]
    pub(super) fn keep_alive_due(&self, has_streams: bool, config: &Config) -> Time {
        match config.keep_alive {
            Some(interval) if has_streams && self.pong == Time::FAR => self.heard.saturating_add(interval),
            _ => Time::FAR,
        }
    }

    /// Returns the answer that the peer has not given in time, which ends the connection.
    pub(super) fn overdue(&self, now: Time) -> Option<Awaited> {
        match now {
            _ if now >= self.handshake => Some(Awaited::Preface),
            _ if now >= self.settings => Some(Awaited::SettingsAck),
            _ if now >= self.head => Some(Awaited::Head),
            _ if now >= self.pong && self.heard <= self.pinged => Some(Awaited::Pong),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn frame_here(&mut self, now: Time) {
        self.heard = now;
    }

    pub(super) fn settings_here(&mut self) {
        self.handshake = Time::FAR;
    }

    /// Our SETTINGS are out; a deadline that runs is kept.
    #[inline]
    pub(super) fn settings_sent(&mut self, now: Time, config: &Config) {
        if self.settings == Time::FAR {
            self.settings = now.saturating_add(config.settings_timeout);
        }
    }

    pub(super) fn settings_acknowledged(&mut self, awaits_more: bool, now: Time, config: &Config) {
        self.settings = if awaits_more { now.saturating_add(config.settings_timeout) } else { Time::FAR };
    }

    /// The head or frame before is whole: a peer is not slow because reads happen to end within its frames.
    #[inline]
    pub(super) fn head_ends(&mut self) {
        self.head = Time::FAR;
    }

    /// Input has ended within a field block or a frame other than DATA, or not.
    #[inline]
    pub(super) fn head_pauses(&mut self, is_begun: bool, now: Time, config: &Config) {
        if !is_begun {
            self.head = Time::FAR;
        } else if self.head == Time::FAR {
            self.head = now.saturating_add(config.limits.head_timeout);
        }
    }

    pub(super) fn pong_here(&mut self) {
        self.pong = Time::FAR;
    }

    /// A PING is out, to be answered in time.
    pub(super) fn keep_alive_sent(&mut self, now: Time, config: &Config) {
        (self.pinged, self.pong) = (now, now.saturating_add(config.ping_timeout));
    }

    /// Gives the peer so long to send anything, in order to see whether it is there. Returns true if a PING
    /// is to be sent: none is out.
    pub(super) fn ask(&mut self, now: Time, within: Duration) -> bool {
        let is_out = self.pong != Time::FAR && self.heard <= self.pinged;
        let before = if is_out { self.pong } else { Time::FAR };
        self.pong = before.min(now.saturating_add(within));
        if !is_out {
            self.pinged = now;
        }
        !is_out
    }

    /// Other frames have come in place of the pong.
    pub(super) fn end_wait_for_pong(&mut self, now: Time) {
        if now >= self.pong {
            self.pong = Time::FAR;
        }
    }

    /// We have said that we go; a deadline that runs is kept.
    #[inline]
    pub(super) fn grace_begins(&mut self, now: Time, config: &Config) {
        if self.grace == Time::FAR {
            self.grace = now.saturating_add(config.ping_timeout);
        }
    }

    pub(super) fn is_grace_over(&self, now: Time) -> bool {
        now >= self.grace
    }

    pub(super) fn grace_ends(&mut self) {
        self.grace = Time::FAR;
    }
}
