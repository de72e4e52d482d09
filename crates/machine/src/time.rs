//! Time in the lower layers: a number that the caller passes in.

use core::fmt;
use core::time::Duration;

/// Nanoseconds since an origin that the caller chose, such as the start of the process; lasts 584 years.
///
/// The protocol machines have no clock: whoever drives them says what time it is, so tests run on simulated
/// time.
///
/// ```
/// use alula::machine::Time;
/// use std::time::Duration;
///
/// let sent = Time::ZERO.saturating_add(Duration::from_millis(5));
/// let answered = sent.saturating_add(Duration::from_millis(20));
/// assert_eq!(answered.saturating_since(sent), Duration::from_millis(20));
/// assert_eq!(sent.saturating_since(answered), Duration::ZERO);
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Default, Hash)]
pub struct Time(u64);

impl Time {
    /// The origin.
    pub const ZERO: Self = Self(0);
    /// A time later than every deadline.
    pub const FAR: Self = Self(u64::MAX);

    /// Makes the time so many nanoseconds after the origin.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the origin.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time this much later, at most [`FAR`](Self::FAR).
    #[inline]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        let nanos = duration.as_nanos();
        if nanos > u64::MAX as u128 { Self::FAR } else { Self(self.0.saturating_add(nanos as u64)) }
    }

    /// Returns the time since the other one; zero if that is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Duration::from_nanos(self.0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overflows() {
        assert_eq!(Time::FAR.saturating_add(Duration::from_nanos(1)), Time::FAR);
        assert_eq!(Time::ZERO.saturating_add(Duration::MAX), Time::FAR);
        assert_eq!(Time::ZERO.saturating_since(Time::FAR), Duration::ZERO);
        assert_eq!(Time::FAR.saturating_since(Time::ZERO), Duration::from_nanos(u64::MAX));
        assert_eq!(Time::from_nanos(7).as_nanos(), 7);
        assert_eq!(alloc::format!("{:?}", Time::from_nanos(1_500_000)), "1.5ms");
    }
}
