//! The pace of a peer in what it owes: content that a caller waits for, and room for our content.
//!
//! Rule 1: only the peer's delay counts, and `connection/checks` says when that is. The time in which it owes
//! nothing is taken out, and what it has shown before counts on: no measurement begins anew while the
//! exchange lasts.
//! Rule 2: bytes of content count, whatever frames them: chunk sizes, extensions, padding and empty DATA move
//! nothing.
//! Rule 3: from the end of the grace on the mean since the beginning is judged, and a pause is paid for by
//! bytes that came ahead of the least rate. They count for as long as a peer may be silent, and no longer.

use std::time::Duration;

use alula_machine::{Limits, Time};

use crate::{
    connection::checks::idle::{LOOK_AFTER, part_of},
    error::limit::Overrun,
};

/// A time in nanoseconds; below zero it is a debt.
type Nanos = i64;

const SECOND: Nanos = 1_000_000_000;

/// The least pace that is asked of a peer.
#[derive(Clone, Copy)]
pub(crate) struct LeastPace {
    /// Bytes per second; zero asks for none.
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

    /// Returns the time between two checks: a part of the time that a peer has.
    pub(crate) fn look_after(&self) -> Duration {
        part_of(self.stall, 4, part_of(self.grace, 4, LOOK_AFTER)).max(LOOK_AFTER / 100)
    }

    pub(crate) const fn without_rate(self) -> Self {
        Self { rate: 0, ..self }
    }

    /// Returns the time that so many bytes take at the least rate; none without a rate.
    fn time_for(&self, bytes: u64) -> Nanos {
        let time = (u128::from(bytes) * SECOND as u128).checked_div(u128::from(self.rate));
        time.map_or(0, |time| Nanos::try_from(time).unwrap_or(Nanos::MAX))
    }
}

/// The progress of a peer in something that it owes.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    /// The generation of the slot.
    pub(crate) generation: u32,
    /// The bytes that have moved in all.
    pub(crate) bytes: u64,
    /// The bytes that do not count because they moved before the peer owed anything: they may have gone into
    /// buffers and windows only.
    pub(crate) uncounted: u64,
}

impl Progress {
    /// Counts the bytes that move from when the peer owes something.
    pub(crate) const fn from_now(generation: u32, bytes: u64) -> Self {
        Self { generation, bytes, uncounted: bytes }
    }

    /// Counts all bytes that have moved.
    pub(crate) const fn of_all(generation: u32, bytes: u64) -> Self {
        Self { generation, bytes, uncounted: 0 }
    }
}

/// The pace of a peer in something that it owes, since it began to.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    has_begun: bool,
    /// The time of the last check, if the peer owed something then.
    looked_at: Time,
    /// The time in which the peer has owed it, in all.
    owed: Nanos,
    /// The time since the last byte moved while the peer owed something.
    still: Nanos,
    /// The time by which the peer is ahead of the least rate; negative if it is behind.
    ahead: Nanos,
    /// The bytes that had moved at the last check.
    seen: u64,
    /// The generation of the slot.
    generation: u32,
}

impl Default for Pace {
    fn default() -> Self {
        let looked_at = Time::FAR;
        Self { has_begun: false, looked_at, owed: 0, still: 0, ahead: 0, seen: 0, generation: 0 }
    }
}

impl Pace {
    /// Updates the pace of a peer that owes something, and returns the limit that it has run into.
    pub(crate) fn look(&mut self, progress: Progress, now: Time, least: LeastPace) -> Option<Overrun> {
        let Progress { generation, bytes, uncounted } = progress;
        if !self.has_begun || self.generation != generation {
            *self = Self { has_begun: true, seen: uncounted, generation, ..Self::default() };
        }
        let took = match self.looked_at {
            Time::FAR => 0,
            before => nanos(now.saturating_since(before)),
        };
        self.looked_at = now;
        self.owed = self.owed.saturating_add(took);
        self.still = self.still.saturating_add(took);
        self.ahead = self.ahead.saturating_sub(took);
        self.note_moved(bytes, least);
        self.judge(least)
    }

    /// Notes that the peer owes nothing for now.
    pub(crate) fn rest(&mut self) {
        self.looked_at = Time::FAR;
    }

    fn note_moved(&mut self, bytes: u64, least: LeastPace) {
        let moved = bytes.saturating_sub(self.seen);
        self.seen = bytes;
        if moved > 0 {
            self.still = 0;
            self.ahead = self.ahead.saturating_add(least.time_for(moved)).min(nanos(least.stall));
        }
    }

    fn judge(&self, least: LeastPace) -> Option<Overrun> {
        let is_judged = least.rate > 0 && self.owed >= nanos(least.grace);
        match () {
            () if self.still >= nanos(least.stall) => Some(Overrun::STALLED),
            () if is_judged && self.ahead < 0 => Some(Overrun::SLOW_CONTENT),
            () => None,
        }
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX)
}

/// The pace of a peer in what belongs to no single stream.
#[derive(Default)]
pub(crate) struct PeerPace {
    /// The pace at which the socket takes our bytes.
    output: Pace,
    /// The pace of content that is read and dropped.
    discarded: Pace,
}

impl PeerPace {
    /// Checks the progress of a full socket, which has taken so many bytes in all.
    pub(crate) fn look_at_output(
        &mut self,
        taken: Option<u64>,
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
        look_or_rest(&mut self.output, taken.map(|bytes| Progress::from_now(0, bytes)), now, least)
    }

    /// Checks the progress of content that is read and dropped: by the number of its exchange, and the bytes
    /// dropped in all.
    pub(crate) fn look_at_discarded(
        &mut self,
        dropped: Option<(u32, u64)>,
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
        let dropped = dropped.map(|(exchange, bytes)| Progress::from_now(exchange, bytes));
        look_or_rest(&mut self.discarded, dropped, now, least)
    }

    /// Excludes the time until the next check from both measurements.
    pub(crate) fn rest(&mut self) {
        self.output.rest();
        self.discarded.rest();
    }
}

fn look_or_rest(pace: &mut Pace, progress: Option<Progress>, now: Time, least: LeastPace) -> Option<Overrun> {
    match progress {
        Some(progress) => pace.look(progress, now, least),
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
        LeastPace { rate: 240, grace: Duration::from_secs(30), stall: Duration::from_secs(60) };

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    /// Judges a peer that is looked at each second and has moved so much by so many seconds, until the last
    /// of them.
    fn judge(least: LeastPace, progress: &[(u64, u64)]) -> Option<(u64, Overrun)> {
        let mut pace = Pace::default();
        let last = progress.last()?.0;
        (0..=last).find_map(|second| {
            let bytes = progress.iter().take_while(|(by, _)| *by <= second).last()?.1;
            pace.look(Progress::from_now(0, bytes), at(second), least).map(|overrun| (second, overrun))
        })
    }

    #[test]
    fn a_peer_has_its_grace() {
        assert_eq!(judge(LEAST, &[(0, 0), (29, 0)]), None);
        assert_eq!(judge(LEAST, &[(0, 0), (30, 7199)]), Some((30, Overrun::SLOW_CONTENT)));
        assert_eq!(judge(LEAST, &[(0, 0), (30, 7200)]), None);
    }

    #[test]
    fn bytes_before_it_owed_anything_do_not_count() {
        assert_eq!(judge(LEAST, &[(0, 1 << 40), (99, 1 << 40)]), Some((30, Overrun::SLOW_CONTENT)));
        let mut pace = Pace::default();
        let look = |pace: &mut Pace, second| pace.look(Progress::of_all(0, 7440), at(second), LEAST);
        assert_eq!(
            [0, 30, 31, 32].map(|second| look(&mut pace, second)),
            [None, None, None, Some(Overrun::SLOW_CONTENT)]
        );
    }

    #[test]
    fn the_mean_since_the_beginning_is_judged() {
        // A second ahead at the end of the grace, and then nothing.
        assert_eq!(judge(LEAST, &[(0, 0), (30, 7440), (99, 7440)]), Some((32, Overrun::SLOW_CONTENT)));
        assert_eq!(judge(LEAST, &[(0, 0), (30, 12_000), (49, 12_000), (50, 12_000)]), None);
        assert_eq!(judge(LEAST, &[(0, 0), (30, 12_000), (51, 12_000)]), Some((51, Overrun::SLOW_CONTENT)));
    }

    #[test]
    fn bytes_ahead_count_for_a_minute() {
        // A byte at a time keeps the other limit away.
        let dribble = |until: u64| (1..=until).map(|second| (second, (1 << 40) + second));
        let long: Vec<_> = std::iter::once((0, 0)).chain(dribble(99)).collect();
        assert_eq!(judge(LEAST, &long), Some((62, Overrun::SLOW_CONTENT)));
    }

    #[test]
    fn who_keeps_the_rate_is_never_found_slow() {
        let steady: Vec<_> = (0..10_000).map(|second| (second, 240 * second)).collect();
        assert_eq!(judge(LEAST, &steady), None);
    }

    #[test]
    fn without_a_rate_something_must_move() {
        let least = LEAST.without_rate();
        assert_eq!(judge(least, &[(0, 0), (59, 0)]), None);
        assert_eq!(judge(least, &[(0, 0), (60, 0)]), Some((60, Overrun::STALLED)));
        assert_eq!(judge(least, &[(0, 0), (59, 1), (118, 1)]), None);
        assert_eq!(judge(least, &[(0, 0), (59, 1), (119, 1)]), Some((119, Overrun::STALLED)));
    }

    #[test]
    fn what_stays_away_is_noticed_within_the_grace_of_the_rate() {
        let least = LeastPace { stall: Duration::from_secs(3), ..LEAST };
        assert_eq!(judge(least, &[(0, 0), (1, 500), (3, 500)]), None);
        assert_eq!(judge(least, &[(0, 0), (1, 500), (4, 500)]), Some((4, Overrun::STALLED)));
    }

    #[test]
    fn the_time_in_which_nothing_is_owed_is_left_out_and_nothing_is_forgotten() {
        let mut pace = Pace::default();
        assert_eq!(pace.look(Progress::from_now(0, 0), at(0), LEAST), None);
        assert_eq!(pace.look(Progress::from_now(0, 0), at(29), LEAST), None);
        pace.rest();
        assert_eq!(pace.look(Progress::from_now(0, 0), at(1000), LEAST), None);
        assert_eq!(pace.look(Progress::from_now(0, 0), at(1001), LEAST), Some(Overrun::SLOW_CONTENT));
    }

    #[test]
    fn a_slot_used_again_begins_anew() {
        let mut pace = Pace::default();
        assert_eq!(pace.look(Progress::from_now(1, 0), at(0), LEAST), None);
        assert_eq!(pace.look(Progress::from_now(2, 0), at(60), LEAST), None);
        assert_eq!(pace.look(Progress::from_now(2, 0), at(89), LEAST), None);
        assert_eq!(pace.look(Progress::from_now(2, 0), at(90), LEAST), Some(Overrun::SLOW_CONTENT));
    }

    #[test]
    fn no_limit_is_too_large_to_be_reckoned_with() {
        let never = LeastPace { rate: 1, grace: Duration::MAX, stall: Duration::MAX };
        let mut pace = Pace::default();
        for (bytes, seconds) in [(0, 0), (u64::MAX, 1), (u64::MAX, u64::MAX >> 32)] {
            assert_eq!(pace.look(Progress::from_now(0, bytes), at(seconds), never), None);
        }
    }
}
