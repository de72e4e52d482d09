//! An estimate of the bandwidth-delay product of a path, and of the window that uses it fully.
//!
//! A sample begins with a WINDOW_UPDATE. A PING that goes out with it gives the round trip, but its answer
//! does not end the sample: a peer answers before it sends what the WINDOW_UPDATE has allowed, so that
//! nothing comes in between where a window arrives in one burst. A window limits the peer when all of it is
//! used up within one and a half round trips, and is worth growing when the reader has caught up with that
//! within three.
//!
//! Such a window becomes twice as large as what comes in a round trip, as long as more came per second than
//! ever before: beyond what the path carries, larger windows only fill the queues on the way. A size found
//! worthwhile for one window also holds for the other windows of the connection, once they limit.

use core::time::Duration;

/// The measurements on one connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bandwidth {
    /// The round trip in nanoseconds: a shorter one counts at once, a longer one by an eighth (RFC 6298 §2),
    /// as it may come from a queue that our own windows have filled. Zero before the first.
    round_trip: u64,
    /// The most bytes per second so far.
    rate_max: u64,
    /// The largest window that was worthwhile.
    worthwhile: u32,
}

/// The time of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The nanoseconds from its WINDOW_UPDATE to its end; at least a round trip.
    took: u64,
    /// The round trip meanwhile, in nanoseconds.
    round_trip: u64,
}

impl Span {
    pub(crate) fn new(took: Duration, round_trip: Duration) -> Self {
        let round_trip = nanos(round_trip);
        Self { took: nanos(took).max(round_trip), round_trip }
    }

    /// Returns true if a window that is used up after this time limits the peer.
    pub(crate) fn is_in_time(self, after: Duration) -> bool {
        nanos(after) / 3 < self.round_trip / 2
    }

    /// Returns true if a window that limits the peer would have been used up by now.
    pub(crate) const fn is_over(self) -> bool {
        self.took / 3 >= self.round_trip / 2
    }

    /// Returns true if the reader would have caught up with it by now, too.
    pub(crate) const fn is_long_over(self) -> bool {
        self.took / 3 > self.round_trip
    }
}

impl Bandwidth {
    /// Returns the round trip; `None` before it was measured.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        (self.round_trip > 0).then_some(Duration::from_nanos(self.round_trip))
    }

    /// Records the time that a PING took.
    pub(crate) fn note_round_trip(&mut self, took: Duration) {
        let took = nanos(took);
        self.round_trip = match self.round_trip {
            0 => took,
            known => took.min(known - known / 8 + took / 8),
        };
    }

    /// Records the bytes of all streams together. When they were faster than before, by an eighth, as two
    /// measures of the same are never equal, windows twice as large as what a round trip carries are
    /// worthwhile.
    pub(crate) fn measure(&mut self, bytes: u64, span: Span) {
        let rate = u128::from(bytes) * 1_000_000_000 / u128::from(span.took);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        if rate > self.rate_max.saturating_add(self.rate_max / 8) {
            // Without what only waited in a queue.
            let carried = u128::from(bytes) * u128::from(self.round_trip) / u128::from(span.took);
            self.worthwhile = self.worthwhile.max(u32::try_from(2 * carried).unwrap_or(u32::MAX));
        }
        self.rate_max = self.rate_max.max(rate);
    }

    /// Returns the size for a window that limits the peer, if it should be larger.
    pub(crate) fn grown(&self, size: u32, size_max: u32) -> Option<u32> {
        Some(self.worthwhile.min(size_max)).filter(|&wanted| wanted > size)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Returns a path whose round trip is known.
    fn path() -> Bandwidth {
        let mut path = Bandwidth::default();
        path.note_round_trip(RTT);
        path
    }

    fn one() -> Span {
        Span::new(RTT, RTT)
    }

    #[test]
    fn a_window_that_limits_is_doubled_up_to_the_limit() {
        let mut path = path();
        path.measure(100_000, one());
        assert_eq!(path.grown(100_000, 1 << 20), Some(200_000));
        assert_eq!(path.grown(100_000, 150_000), Some(150_000), "up to the limit");
        assert_eq!(path.grown(150_000, 150_000), None);
    }

    #[test]
    fn without_more_speed_windows_grow_only_as_far_as_was_worthwhile() {
        let mut path = path();
        path.measure(1_000_000, one());
        // The path is full: a queue makes the round trip longer, and nothing comes faster.
        path.note_round_trip(2 * RTT);
        path.measure(2_000_000, Span::new(2 * RTT, 2 * RTT));
        assert_eq!(path.grown(2_000_000, u32::MAX), None);
        assert_eq!(path.grown(300_000, u32::MAX), Some(2_000_000), "another stream's");
        path.measure(1_100_000, one());
        assert_eq!(path.grown(2_000_000, u32::MAX), None, "noise");
    }

    #[test]
    fn what_waits_in_a_queue_is_not_on_its_way() {
        let mut path = path();
        path.measure(100_000, one());
        // Nine times as much in three times the time: two thirds waited.
        path.note_round_trip(3 * RTT);
        path.measure(900_000, Span::new(3 * RTT, 3 * RTT));
        let more = path.grown(400_000, 1 << 30);
        assert!(more.is_some_and(|size| size < 900_000), "{more:?}");
    }

    #[test]
    fn a_sample_is_over_after_one_and_a_half_round_trips() {
        assert!(!Span::new(RTT, RTT).is_over() && !Span::new(RTT * 7 / 5, RTT).is_over());
        assert!(Span::new(RTT * 8 / 5, RTT).is_over());
        assert!(one().is_in_time(RTT * 7 / 5) && !one().is_in_time(RTT * 8 / 5));
        assert!(!Span::new(RTT * 14 / 5, RTT).is_long_over() && Span::new(RTT * 16 / 5, RTT).is_long_over());
        assert!(!Span::new(Duration::ZERO, RTT).is_over(), "the answer to the PING may come later than all");
    }
}
