//! The deadlines of a connection.

use core::time::Duration;

use alula_machine::Time;

use crate::config::Config;
use crate::error::Awaited;

/// Deadlines; `Time::FAR` is none. The times that the peer has are those of the configuration, which
/// connections share.
pub(super) struct Timers {
    is_started: bool,
    /// The time by which the peer's first SETTINGS must come.
    handshake: Time,
    /// The time by which our SETTINGS must be acknowledged.
    settings: Time,
    /// The time by which a head or frame that the peer has begun must be complete.
    head: Time,
    /// The time of the last frame.
    heard: Time,
    /// The time at which a keep-alive PING was sent, which must be answered or followed by other frames until
    /// `pong`.
    pinged: Time,
    pong: Time,
    /// The time at which the last stream is named, whether the peer has answered or not.
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

    /// Starts the deadlines at the first call with a time.
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

    /// Returns the overdue answer that ends the connection.
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

    /// Records that our SETTINGS were sent; a running deadline stays.
    #[inline]
    pub(super) fn settings_sent(&mut self, now: Time, config: &Config) {
        if self.settings == Time::FAR {
            self.settings = now.saturating_add(config.settings_timeout);
        }
    }

    pub(super) fn settings_acknowledged(&mut self, awaits_more: bool, now: Time, config: &Config) {
        self.settings = if awaits_more { now.saturating_add(config.settings_timeout) } else { Time::FAR };
    }

    /// Records that the last head or frame is complete: a peer is not slow because reads happen to end within
    /// its frames.
    #[inline]
    pub(super) fn head_ends(&mut self) {
        self.head = Time::FAR;
    }

    /// Records whether the input has ended within a field block or a frame other than DATA.
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

    /// Records that a PING was sent, which must be answered in time.
    pub(super) fn keep_alive_sent(&mut self, now: Time, config: &Config) {
        (self.pinged, self.pong) = (now, now.saturating_add(config.ping_timeout));
    }

    /// Gives the peer this long to send anything. Returns true if a PING is to be sent: none is out.
    pub(super) fn ask(&mut self, now: Time, within: Duration) -> bool {
        let is_out = self.pong != Time::FAR && self.heard <= self.pinged;
        let before = if is_out { self.pong } else { Time::FAR };
        self.pong = before.min(now.saturating_add(within));
        if !is_out {
            self.pinged = now;
        }
        !is_out
    }

    /// Records other frames that came in place of the pong.
    pub(super) fn end_wait_for_pong(&mut self, now: Time) {
        if now >= self.pong {
            self.pong = Time::FAR;
        }
    }

    /// Records that this side is going away; a running deadline stays.
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
