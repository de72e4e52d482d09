//! The pace of a peer in what it owes: content that is waited for, and room for content of ours.
//!
//! Rule 1: a busy connection pays two sums for this. Its task looks now and then (`idle.rs`) while streams are held or the
//! socket is full.
//! Rule 2: only the peer's delay counts: content that a handler waits for or that is read and dropped, and octets of ours that
//! wait for the peer's windows or its socket. Nothing is judged while our windows, or our stopped reading, block the peer.
//! Rule 3: a client judges its own requests by the deadlines of its callers; it only ends connections whose socket is stuck.
//! Rule 4: octets of content count, whatever frames them: chunk sizes, extensions, padding and empty DATA move nothing.

use std::time::Duration;

use alula_fields::{Limits, Time};
use alula_h2::ErrorCode;

use crate::{
    error::{Error, Phase},
    hand_over::Side,
    idle::{LOOK_AFTER, part_of},
    overrun::Overrun,
    shared::Shared,
    slot::{Sides, SlotKey},
};

/// The least that is asked of a peer.
#[derive(Clone, Copy)]
pub(crate) struct Least {
    /// Octets per second; zero asks for none.
    rate: u64,
    grace: Duration,
    stall: Duration,
}

impl Least {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rate: u64::from(limits.body_rate_min),
            grace: limits.body_rate_grace,
            stall: limits.stall_timeout,
        }
    }

    /// How often to look: a few times within what a peer has of time.
    pub(crate) fn look_after(&self) -> Duration {
        part_of(self.stall, 4, part_of(self.grace, 4, LOOK_AFTER)).max(LOOK_AFTER / 100)
    }

    const fn without_rate(self) -> Self {
        Self { rate: 0, ..self }
    }
}

/// Since when a peer owes something, and how far it had come then.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// The beginning of the time over which the rate is measured.
    since: Time,
    octets: u64,
    /// The last look at which something had moved.
    moved_at: Time,
    seen: u64,
    /// The use of the slot that this is about.
    generation: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { since: Time::FAR, octets: 0, moved_at: Time::FAR, seen: 0, generation: 0 }
    }
}

impl Pace {
    /// Notes how far the peer has come, and returns the limit that it has run into.
    fn look(&mut self, generation: u32, octets: u64, now: Time, least: Least) -> Option<Overrun> {
        if self.since == Time::FAR || self.generation != generation {
            *self = Self { since: now, octets, moved_at: now, seen: octets, generation };
            return None;
        }
        if octets != self.seen {
            (self.moved_at, self.seen) = (now, octets);
        }
        if now.saturating_since(self.moved_at) >= least.stall {
            return Some(Overrun::STALLED);
        }
        let (moved, took) = (octets - self.octets, now.saturating_since(self.since));
        if took < least.grace {
            return None;
        }
        if u128::from(moved) * 1000 < u128::from(least.rate) * took.as_millis() {
            return Some(Overrun::SLOW_CONTENT);
        }
        if moved > 0 {
            (self.since, self.octets) = (now, octets);
        }
        None
    }

    fn rest(&mut self) {
        self.since = Time::FAR;
    }
}

impl Shared {
    /// Fails streams whose peer is too slow, or ends the connection.
    pub(crate) fn look_for_slow_peer(&mut self, now: Time) {
        if self.blocked && self.unsent() > 0 {
            let least = if self.machine.is_client() { self.least.without_rate() } else { self.least };
            if let Some(overrun) = self.pace.look(0, self.written, now, least) {
                self.give_up(overrun);
                return;
            }
        } else {
            self.pace.rest();
        }
        if !self.machine.is_client() {
            if let Some(overrun) = self.look_at_discarded(now) {
                self.give_up(overrun);
                return;
            }
            for index in 0..self.slots.len() {
                self.look_at_stream(index, now);
            }
        }
    }

    /// Begins every measurement anew.
    #[cold]
    pub(crate) fn rest_paces(&mut self) {
        self.pace.rest();
        self.discard_pace.rest();
        self.slots.iter_mut().flat_map(|slot| &mut slot.paces).for_each(Pace::rest);
    }

    /// Looks how far content has come that is read and dropped.
    fn look_at_discarded(&mut self, now: Time) -> Option<Overrun> {
        match self.machine.discarding().filter(|_| self.is_reading()) {
            Some((exchange, octets)) => self.discard_pace.look(exchange, octets, now, self.least),
            None => {
                self.discard_pace.rest();
                None
            }
        }
    }

    /// Returns true unless reading has stopped, for whatever reason on our side.
    fn is_reading(&self) -> bool {
        let is_blocked = self.blocked && self.output_is_full();
        !self.is_read_stopped && !is_blocked
    }

    fn look_at_stream(&mut self, index: usize, now: Time) {
        let is_reading = self.is_reading();
        let slot = &mut self.slots[index];
        let is_judged = slot.failed.is_none() && !slot.is_exempt();
        let Some(stream) = slot.stream.filter(|_| is_judged) else { return };
        let [reads, writes] = &mut slot.waits;
        let (reads, writes) = (reads.take_waited(), writes.take_waited());
        let owes_content = reads
            && is_reading
            && slot.held.has(Sides::READ)
            && !slot.ended
            && self.machine.is_content_awaited(stream);
        let owes_room = writes && self.machine.is_without_room(stream);
        let generation = slot.generation;
        let mut overrun = None;
        for (owes, octets, side) in
            [(owes_content, slot.received, Side::Read), (owes_room, slot.sent, Side::Write)]
        {
            let pace = &mut slot.paces[side as usize];
            if owes {
                overrun = overrun.or(pace.look(generation, octets, now, self.least));
            } else {
                pace.rest();
            }
        }
        if let Some(overrun) = overrun {
            self.fail_slow(SlotKey { index: index as u32, generation }, overrun);
        }
    }

    fn fail_slow(&mut self, at: SlotKey, overrun: Overrun) {
        let error = Error::overrun(Phase::Content, overrun, self.machine.limits());
        let Some(slot) = self.slot(at) else { return };
        let Some(stream) = slot.stream else { return };
        slot.failed = Some(error.clone());
        self.ledger.note_error(&error);
        self.machine.reset(stream, ErrorCode::ENHANCE_YOUR_CALM);
        self.cancelled.push(at);
        self.wake_later(at.index, Side::Read);
        self.wake_later(at.index, Side::Write);
    }

    /// Ends the connection because of a limit: the peer is told to be calm.
    #[cold]
    pub(crate) fn give_up(&mut self, overrun: Overrun) {
        self.machine.close(ErrorCode::ENHANCE_YOUR_CALM);
        let error = Error::overrun(Phase::Content, overrun, self.machine.limits());
        self.end(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Least = Least { rate: 240, grace: Duration::from_secs(5), stall: Duration::from_secs(30) };

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    /// What comes of a peer that has moved so much by so many seconds.
    fn judge(least: Least, progress: &[(u64, u64)]) -> Option<Overrun> {
        let mut pace = Pace::default();
        progress.iter().find_map(|(seconds, octets)| pace.look(0, *octets, at(*seconds), least))
    }

    #[test]
    fn a_slow_peer_has_its_grace() {
        assert_eq!(judge(LEAST, &[(0, 0), (4, 0)]), None);
        assert_eq!(judge(LEAST, &[(0, 0), (5, 1199)]), Some(Overrun::SLOW_CONTENT));
        assert_eq!(judge(LEAST, &[(0, 0), (5, 1200), (9, 1200)]), None);
        assert_eq!(judge(LEAST, &[(0, 0), (5, 1200), (10, 2399)]), Some(Overrun::SLOW_CONTENT));
    }

    #[test]
    fn without_a_rate_something_must_move() {
        let least = LEAST.without_rate();
        assert_eq!(judge(least, &[(0, 0), (29, 0)]), None);
        assert_eq!(judge(least, &[(0, 0), (29, 0), (30, 0)]), Some(Overrun::STALLED));
        assert_eq!(judge(least, &[(0, 0), (29, 1), (58, 1)]), None);
        assert_eq!(judge(least, &[(0, 0), (29, 1), (59, 1)]), Some(Overrun::STALLED));
    }

    #[test]
    fn what_stays_away_is_noticed_within_the_grace_of_the_rate() {
        let least = Least { stall: Duration::from_secs(3), ..LEAST };
        assert_eq!(judge(least, &[(0, 0), (1, 500), (3, 500)]), None);
        assert_eq!(judge(least, &[(0, 0), (1, 500), (4, 500)]), Some(Overrun::STALLED));
    }

    #[test]
    fn a_slot_used_again_begins_anew() {
        let mut pace = Pace::default();
        assert_eq!(pace.look(1, 0, at(0), LEAST), None);
        assert_eq!(pace.look(2, 0, at(60), LEAST), None);
        assert_eq!(pace.look(2, 0, at(65), LEAST), Some(Overrun::SLOW_CONTENT));
    }
}
