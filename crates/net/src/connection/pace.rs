//! The pace of a peer in what it owes: content that is waited for, and room for content of ours.
//!
//! Only the peer's delay counts; `watching.rs` says when that is. Octets of content count, whatever frames them: chunk sizes,
//! extensions, padding and empty DATA move nothing.

use std::time::Duration;

use alula_machine::{Limits, Time};

use crate::{
    connection::idleness::{LOOK_AFTER, part_of},
    overrun::Overrun,
};

/// The least pace that is asked of a peer.
#[derive(Clone, Copy)]
pub(crate) struct LeastPace {
    /// Octets per second; zero asks for none.
    rate: u64,
    grace: Duration,
    stall: Duration,
}

impl LeastPace {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rate: u64::from(limits.body_rate_min),
            grace: limits.body_rate_grace,
            stall: limits.stall_timeout,
        }
    }

    /// Returns the time between two looks: a part of the time that a peer has.
    pub(crate) fn look_after(&self) -> Duration {
        part_of(self.stall, 4, part_of(self.grace, 4, LOOK_AFTER)).max(LOOK_AFTER / 100)
    }

    pub(crate) const fn without_rate(self) -> Self {
        Self { rate: 0, ..self }
    }
}

/// The progress of a peer in something that it owes, since it owes it.
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
    pub(crate) fn look(
        &mut self,
        generation: u32,
        octets: u64,
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
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

    pub(crate) fn rest(&mut self) {
        self.since = Time::FAR;
    }
}

/// The pace of a peer in what is not one stream's.
#[derive(Default)]
pub(crate) struct PeerPace {
    /// The pace at which the socket takes our octets.
    output: Pace,
    /// The pace of content that is read and dropped.
    discarded: Pace,
}

impl PeerPace {
    /// Looks how far the socket has come that is full: so many octets in all.
    pub(crate) fn look_at_output(
        &mut self,
        taken: Option<u64>,
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
        look_or_rest(&mut self.output, taken.map(|octets| (0, octets)), now, least)
    }

    /// Looks how far content has come that is read and dropped: the number of its exchange, and the octets dropped in all.
    pub(crate) fn look_at_discarded(
        &mut self,
        dropped: Option<(u32, u64)>,
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
        look_or_rest(&mut self.discarded, dropped, now, least)
    }

    /// Begins both measurements anew.
    pub(crate) fn rest(&mut self) {
        self.output.rest();
        self.discarded.rest();
    }
}

fn look_or_rest(
    pace: &mut Pace,
    progress: Option<(u32, u64)>,
    now: Time,
    least: LeastPace,
) -> Option<Overrun> {
    match progress {
        Some((generation, octets)) => pace.look(generation, octets, now, least),
        None => {
            pace.rest();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: LeastPace =
        LeastPace { rate: 240, grace: Duration::from_secs(5), stall: Duration::from_secs(30) };

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    /// Judges a peer that has moved so much by so many seconds.
    fn judge(least: LeastPace, progress: &[(u64, u64)]) -> Option<Overrun> {
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
        let least = LeastPace { stall: Duration::from_secs(3), ..LEAST };
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
