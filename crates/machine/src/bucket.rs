//! The token bucket that bounds legal but useless behaviour.

use crate::time::Time;

/// A store of tokens that starts full, empties as tokens are taken and refills with time.
///
/// Exact, without floating point or a timer: it is brought up to date when something is taken.
///
/// ```
/// use alula::machine::{Time, TokenBucket};
/// use std::time::Duration;
///
/// let start = Time::ZERO;
/// let mut resets = TokenBucket::new(2, 1);
/// assert!(resets.take(1, start) && resets.take(1, start));
/// assert!(!resets.take(1, start));
/// assert!(resets.take(1, start.saturating_add(Duration::from_secs(1))));
/// ```
#[derive(Clone, Debug)]
pub struct TokenBucket {
    /// The level in thousand-millionths of a token, so that a nanosecond at one token per second counts.
    level: u64,
    level_max: u64,
    per_second: u32,
    updated: Time,
}

const TOKEN: u64 = 1_000_000_000;

impl TokenBucket {
    /// Creates a full bucket of `burst` tokens, which regains `per_second` tokens each second.
    #[inline]
    pub const fn new(burst: u32, per_second: u32) -> Self {
        let level_max = burst as u64 * TOKEN;
        Self { level: level_max, level_max, per_second, updated: Time::ZERO }
    }

    /// Takes so many tokens, or returns false and takes none if there are fewer.
    ///
    /// A time before the last one given counts as that one.
    #[inline]
    pub fn take(&mut self, cost: u32, now: Time) -> bool {
        self.update(now);
        let left = self.level.checked_sub(cost as u64 * TOKEN);
        self.level = left.unwrap_or(self.level);
        left.is_some()
    }

    /// Returns tokens, as for a request that ended well; never above the burst.
    #[inline]
    pub fn refund(&mut self, tokens: u32) {
        self.level = self.level.saturating_add(tokens as u64 * TOKEN).min(self.level_max);
    }

    /// Returns the number of whole tokens at this time.
    #[inline]
    pub fn available(&mut self, now: Time) -> u32 {
        self.update(now);
        (self.level / TOKEN) as u32
    }

    #[inline]
    fn update(&mut self, now: Time) {
        let elapsed = now.as_nanos().saturating_sub(self.updated.as_nanos());
        let earned = elapsed.saturating_mul(self.per_second as u64);
        self.level = self.level.saturating_add(earned).min(self.level_max);
        self.updated = self.updated.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn tokens_come_back_at_the_rate_and_no_faster() {
        let mut bucket = TokenBucket::new(200, 33);
        assert!(bucket.take(200, millis(0)) && !bucket.take(1, millis(0)));
        assert!(!bucket.take(1, millis(30)) && bucket.take(1, millis(31)));
        assert_eq!(bucket.available(millis(1000)), 32);
        assert_eq!(bucket.available(Time::FAR), 200);
    }

    #[test]
    fn a_refusal_takes_nothing() {
        let mut bucket = TokenBucket::new(3, 0);
        assert!(!bucket.take(4, millis(0)));
        assert_eq!(bucket.available(millis(0)), 3);
    }

    #[test]
    fn refunds_do_not_pass_the_burst_and_time_does_not_run_back() {
        let mut bucket = TokenBucket::new(5, 10);
        assert!(bucket.take(3, millis(1000)));
        bucket.refund(1);
        assert_eq!(bucket.available(millis(500)), 3);
        assert_eq!(bucket.available(millis(1000)), 3);
        bucket.refund(u32::MAX);
        assert_eq!(bucket.available(millis(1000)), 5);
    }
}
