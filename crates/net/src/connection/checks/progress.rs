//! The progress of a connection: the bytes that it moves in a time, compared with those that it holds.
//!
//! It is asked only where memory is scarce and the connection holds much of it (`Conn::end_if_stuck`).

use std::time::Duration;

use alula_machine::Time;

/// The time in which a connection has to be able to move as many bytes as it holds.
const SECONDS_FOR_ALL: u128 = 64;

/// The shortest and the longest time that is measured: a phone may be without network for a while, and old
/// progress says nothing.
const MEASURED_MIN: Duration = Duration::from_secs(1);
const MEASURED_MAX: Duration = Duration::from_secs(2);

/// The moment since which bytes are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress(Option<Mark>);

#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Time,
    moved: u64,
}

impl Progress {
    /// Returns true if too few bytes have moved since an earlier call for a connection that holds so many.
    /// The first call, and one long after another, begins to measure.
    pub(crate) fn is_stuck(&mut self, now: Time, moved: u64, held: u64) -> bool {
        let mark = *self.0.get_or_insert(Mark { at: now, moved });
        let measured = now.saturating_since(mark.at);
        if measured > MEASURED_MAX {
            self.0 = Some(Mark { at: now, moved });
            return false;
        }
        let moved = u128::from(moved.saturating_sub(mark.moved));
        let least = u128::from(held) * measured.as_nanos();
        measured >= MEASURED_MIN && moved * SECONDS_FOR_ALL * Duration::from_secs(1).as_nanos() < least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_connection_that_moves_little_of_what_it_holds_is_stuck() {
        let mut progress = Progress::default();
        assert!(!progress.is_stuck(at(0), 5 * MIB, MIB), "nothing was measured yet");
        assert!(!progress.is_stuck(at(900), 5 * MIB, MIB), "too short a time");
        assert!(progress.is_stuck(at(2_000), 5 * MIB + MIB / 33, MIB));
        assert!(!progress.is_stuck(at(2_000), 5 * MIB + MIB / 31, MIB));
        assert!(!progress.is_stuck(at(2_000), 5 * MIB + MIB / 33, MIB / 2), "it holds less");
        assert!(!progress.is_stuck(at(20_000), 5 * MIB, MIB), "it is measured anew");
        assert!(progress.is_stuck(at(21_000), 5 * MIB, MIB));
    }
}
