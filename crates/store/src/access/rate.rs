//! Rates of requests, in one number for each sender.
//!
//! The number is the time until which requests that were let pass have used up the rate (the generic cell
//! rate algorithm). It is never further ahead than a burst takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const NANOS: u64 = 1_000_000_000;

/// A rate of requests, and how many may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// The time that one request uses up, in nanoseconds.
    each: u64,
    /// The time by which requests may be ahead.
    ahead: u64,
}

/// The part of a rate that was used.
#[derive(Debug, Default)]
pub(super) struct Used(AtomicU64);

impl Rate {
    /// Creates a rate of so many requests in a second, of which `burst` may come at once. Both count as 1 at
    /// least.
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let each = NANOS / u64::from(per_second.max(1));
        Self { each, ahead: each * u64::from(burst.max(1) - 1) }
    }
}

impl Used {
    /// Lets a request pass, at a time that is counted from one start for all senders.
    ///
    /// # Errors
    /// It is too early by this much.
    pub(super) fn take(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now = nanos(now);
        let next = |used: u64| {
            let begin = used.max(now);
            (begin - now <= rate.ahead).then(|| begin + rate.each)
        };
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        taken.map(drop).map_err(|used| Duration::from_nanos(used - now - rate.ahead))
    }

    /// Returns the time to wait before another request may pass, without letting one pass.
    pub(super) fn early_by(&self, rate: Rate, now: Duration) -> Option<Duration> {
        let used = self.0.load(Ordering::Relaxed);
        let early = used.saturating_sub(nanos(now)).saturating_sub(rate.ahead);
        (early > 0).then(|| Duration::from_nanos(early))
    }

    pub(super) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Returns a time in nanoseconds, which are counted up to five hundred years.
fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (used, rate) = (Used::default(), Rate::new(10, 3));
        let at = |millis: u64| Duration::from_millis(1_000 + millis);
        for _ in 0..3 {
            assert_eq!(used.take(rate, at(0)), Ok(()));
        }
        assert_eq!(used.take(rate, at(0)), Err(Duration::from_millis(100)));
        assert_eq!(used.take(rate, at(60)), Err(Duration::from_millis(40)));
        assert_eq!(used.early_by(rate, at(60)), Some(Duration::from_millis(40)));
        assert_eq!(used.take(rate, at(100)), Ok(()));
        assert_eq!(used.take(rate, at(100)), Err(Duration::from_millis(100)));
        // A pause gives no more than a burst.
        let later = at(60_000);
        let passed = (0..10).filter(|_| used.take(rate, later).is_ok()).count();
        assert_eq!(passed, 3);
        used.clear();
        assert_eq!(used.early_by(rate, later), None);
    }

    #[test]
    fn the_ends_of_numbers_are_taken() {
        let used = Used::default();
        assert_eq!(used.take(Rate::new(0, 0), Duration::ZERO), Ok(()));
        assert_eq!(used.take(Rate::new(0, 0), Duration::ZERO), Err(Duration::from_secs(1)));
        let used = Used::default();
        assert_eq!(used.take(Rate::new(u32::MAX, u32::MAX), Duration::MAX), Ok(()));
        assert_eq!(
            used.take(Rate::new(1, 1_000_000), Duration::ZERO),
            Err(Duration::from_nanos(u64::MAX / 2) - Duration::from_secs(999_999))
        );
    }
}
