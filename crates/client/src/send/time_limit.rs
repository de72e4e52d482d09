//! An optional time limit.

use std::time::Duration;

/// A bound on a time, in nanoseconds; [`NONE`](Self::NONE) is no bound, and so is what is longer than 584
/// years. It has half the size of an `Option<Duration>`, since calls are moved about while they are built.
#[derive(Clone, Copy)]
pub(crate) struct TimeLimit(u64);

impl TimeLimit {
    pub(crate) const NONE: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn of(time: Duration) -> Self {
        u64::try_from(time.as_nanos()).map_or(Self::NONE, Self)
    }

    /// Returns the time, unless there is no bound.
    #[inline]
    pub(crate) fn get(self) -> Option<Duration> {
        (self.0 != Self::NONE.0).then(|| Duration::from_nanos(self.0))
    }
}

impl From<Option<Duration>> for TimeLimit {
    #[inline]
    fn from(time: Option<Duration>) -> Self {
        time.map_or(Self::NONE, Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_as_it_was_unless_it_is_no_bound() {
        for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(86_400)] {
            assert_eq!(TimeLimit::of(time).get(), Some(time));
        }
        assert_eq!(TimeLimit::of(Duration::MAX).get(), None);
        assert_eq!(TimeLimit::from(None).get(), None);
    }
}
