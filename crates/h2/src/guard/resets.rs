//! The bounds on resets that the peer causes: it resets streams itself (CVE-2023-44487), or breaks rules so
//! that this side must (CVE-2025-8671). Such a stream can make us begin work that nobody wants.
//!
//! Each of the two has a bucket; streams of the second kind take from that of glitches as well. Streams that
//! end well fill that of glitches one token each, but these only a token for [`STREAMS_PER_RESET`] of them.
//! Otherwise a peer that sends a cheap request beside each one that it resets could go on for ever.

use alula_machine::{Limits, Time, TokenBucket};

/// The streams that must end well for each reset: a peer may reset a fifth of its streams at any rate.
pub(crate) const STREAMS_PER_RESET: u32 = 4;

pub(crate) struct Resets {
    bucket: TokenBucket,
    /// The count of streams that had ended well when tokens were last given back.
    ended_well: u32,
}

impl Resets {
    /// Creates the bound on streams that the peer resets before their answers.
    pub(crate) const fn by_peer(limits: &Limits) -> Self {
        Self { bucket: TokenBucket::new(limits.reset_burst, limits.reset_rate), ended_well: 0 }
    }

    /// Creates the bound on streams that the peer makes this side reset.
    pub(crate) const fn made_by_peer(limits: &Limits) -> Self {
        Self { bucket: TokenBucket::new(limits.glitch_burst, limits.glitch_rate), ended_well: 0 }
    }

    /// Takes a token for a reset; returns false if none is left. `ended_well` is the number of streams that
    /// have ended well so far, which may wrap around.
    pub(crate) fn take(&mut self, ended_well: u32, now: Time) -> bool {
        let earned = ended_well.wrapping_sub(self.ended_well) / STREAMS_PER_RESET;
        self.ended_well = self.ended_well.wrapping_add(earned * STREAMS_PER_RESET);
        self.bucket.refund(earned);
        self.bucket.take(1, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(reset_burst: u32) -> Resets {
        Resets::by_peer(&Limits { reset_burst, reset_rate: 0, ..Limits::default() })
    }

    #[test]
    fn four_streams_that_end_well_pay_for_one_reset() {
        let mut resets = of(1);
        assert!(resets.take(0, Time::ZERO) && !resets.take(3, Time::ZERO));
        assert!(resets.take(4, Time::ZERO) && !resets.take(7, Time::ZERO));
        assert!(resets.take(8, Time::ZERO));
    }

    #[test]
    fn no_more_is_saved_than_the_burst_and_the_count_may_wrap() {
        let mut resets = of(2);
        assert!(resets.take(u32::MAX - 1, Time::ZERO));
        let taken = (0..10).filter(|_| resets.take(u32::MAX - 1, Time::ZERO)).count();
        assert_eq!(taken, 1);
        assert!(!resets.take(u32::MAX, Time::ZERO) && resets.take(3, Time::ZERO));
    }
}
