//! What a path carries in one round trip, and how large a window has to be so that it is not what limits it.
//!
//! When enough of a window was consumed for a WINDOW_UPDATE, a PING goes out with it: what comes until its answer is a sample.
//! What was consumed and the sample together are what the peer had on its way; if that is less than two thirds of the window,
//! the window does not limit the peer. One that does is made twice as large as that, as long as the sample was larger than
//! ever before: beyond what the path carries, larger windows only fill the queues on the way. What was found worthwhile for
//! one window is so for the others of the connection, once they limit.

use core::time::Duration;

/// What was measured so far on one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bandwidth {
    /// The round trip in nanoseconds: a shorter one counts at once, a longer one by an eighth (RFC 6298 §2), as it may be due
    /// to a queue that our own windows have filled. Zero before the first.
    round_trip: u64,
    /// How long the last sample took.
    took: u64,
    /// The most octets per second so far.
    rate_max: u64,
    /// The largest window that was found worthwhile.
    worthwhile: u32,
}

/// What was made of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) size: u32,
    /// Consumed when the PING went out, and announced with it.
    pub(crate) consumed: u32,
    /// Came until its answer.
    pub(crate) octets: u64,
}

impl Bandwidth {
    /// Notes a sample of all streams together, and says whether the peer was faster than before: by an eighth, as two
    /// measures of the same are never equal.
    pub(crate) fn measure(&mut self, octets: u64, took: Duration) -> bool {
        self.took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.round_trip = match self.round_trip {
            0 => self.took,
            known => self.took.min(known - known / 8 + self.took / 8),
        };
        let rate = octets.saturating_mul(1_000_000_000) / self.took;
        let is_faster = rate > self.rate_max.saturating_add(self.rate_max / 8);
        self.rate_max = self.rate_max.max(rate);
        is_faster
    }

    /// The size a window should have by the last sample, if it should be larger.
    pub(crate) fn grown(&mut self, window: Used, size_max: u32, is_faster: bool) -> Option<u32> {
        let Used { size, consumed, octets } = window;
        let on_its_way = octets.saturating_add(consumed.into());
        if on_its_way.saturating_mul(3) <= u64::from(size) * 2 {
            return None;
        }
        if is_faster {
            // Without what only waited in a queue.
            let in_round_trip = u128::from(octets) * u128::from(self.round_trip) / u128::from(self.took);
            let wanted = 2 * (in_round_trip + u128::from(consumed));
            self.worthwhile = self.worthwhile.max(u32::try_from(wanted).unwrap_or(u32::MAX));
        }
        Some(self.worthwhile.min(size_max)).filter(|&wanted| wanted > size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn used(size: u32, octets: u64) -> Used {
        Used { size, consumed: size / 2, octets }
    }

    #[test]
    fn a_window_that_limits_is_doubled_and_one_that_does_not_is_left_alone() {
        let mut path = Bandwidth::default();
        assert!(path.measure(50_000, RTT));
        assert_eq!(path.grown(used(100_000, 16_000), 1 << 20, true), None);
        assert_eq!(path.grown(used(100_000, 50_000), 1 << 20, true), Some(200_000));
        assert_eq!(path.grown(used(200_000, 100_000), 300_000, true), Some(300_000), "up to the limit");
        assert_eq!(path.grown(used(300_000, 150_000), 300_000, true), None);
    }

    #[test]
    fn without_more_speed_windows_grow_only_as_far_as_was_worthwhile() {
        let mut path = Bandwidth::default();
        assert!(path.measure(500_000, RTT));
        assert_eq!(path.grown(used(1_000_000, 500_000), u32::MAX, true), Some(2_000_000));
        // The path is full: a queue makes the round trip longer, and nothing comes faster.
        assert!(!path.measure(1_000_000, 2 * RTT));
        assert_eq!(path.grown(used(2_000_000, 1_000_000), u32::MAX, false), None);
        assert_eq!(path.grown(used(300_000, 150_000), u32::MAX, false), Some(2_000_000), "another stream's");
        assert!(!path.measure(550_000, RTT), "noise");
    }

    #[test]
    fn what_waits_in_a_queue_is_not_on_its_way() {
        let mut path = Bandwidth::default();
        assert!(path.measure(100_000, RTT));
        // Four times as much in three times the time: the last third waited.
        assert!(path.measure(400_000, 3 * RTT));
        assert_eq!(path.grown(Used { size: 400_000, consumed: 0, octets: 400_000 }, 1 << 30, true), None);
        assert!(path.measure(900_000, 3 * RTT));
        let more = path.grown(Used { size: 400_000, consumed: 0, octets: 900_000 }, 1 << 30, true);
        assert!(more.is_some_and(|size| size < 900_000), "{more:?}");
    }
}
