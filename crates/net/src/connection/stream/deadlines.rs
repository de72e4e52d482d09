//! The deadlines of one exchange and its parts, in its connection's time.
//!
//! Rule 1: bytes that come and go note no time. The connection's task looks a few times within what may pass
//! in silence, and compares how many have moved.
//! Rule 2: only a caller that waits can wait too long: content that nobody asks for may take its time.

use std::time::Duration;

use alula_machine::Time;

use crate::error::Error;

/// The number of checks within the time that may pass in silence.
const LOOKS: u32 = 4;
/// The shortest time between two checks.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Default)]
pub(crate) struct StreamDeadlines {
    total: Option<Time>,
    head: Option<Time>,
    idle: Option<Duration>,
    /// The times that were given for `total` and `head`.
    given: [Option<Duration>; 2],
    is_head_here: bool,
    /// The time since which nothing has moved, and the count of bytes then.
    still_since: Time,
    moved: u64,
    /// The time of the next check, while there is a deadline.
    next: Option<Time>,
}

impl StreamDeadlines {
    /// Creates deadlines that begin now, when so many bytes had moved: `total` and `head` are the time until
    /// each and the time that was given for it.
    pub(crate) fn new(
        now: Time,
        total: (Option<Duration>, Option<Duration>),
        head: Option<Duration>,
        idle: Option<Duration>,
        moved: u64,
    ) -> Self {
        let mut deadlines = Self {
            total: total.0.map(|after| now.saturating_add(after)),
            head: head.map(|after| now.saturating_add(after)),
            idle,
            given: [total.1, head],
            is_head_here: false,
            still_since: now,
            moved,
            next: None,
        };
        deadlines.look_later(now);
        deadlines
    }

    /// Returns the time of the next check.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    fn look_later(&mut self, now: Time) {
        let idle = self.idle.map(|idle| now.saturating_add((idle / LOOKS).max(LOOK_AFTER_MIN)));
        self.next = [self.total, self.head, idle].into_iter().flatten().min();
    }

    /// Removes all bounds.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.next = None;
    }

    /// Records that the head has come in time.
    #[inline]
    pub(crate) fn head_is_here(&mut self) {
        if self.next.is_none() {
            return;
        }
        self.is_head_here = true;
        if self.head.take().is_some() && self.idle.is_none() {
            self.next = self.total;
        }
    }

    /// Returns the failure if a deadline has passed, and plans the next check. `waits` says who waits, to
    /// read and to write; so many bytes have moved, both ways.
    pub(crate) fn late(&mut self, now: Time, waits: [bool; 2], moved: u64) -> Option<Error> {
        let [reads, writes] = waits;
        let is_awaited = writes || (self.is_head_here && reads);
        if !is_awaited || moved != self.moved {
            (self.still_since, self.moved) = (now, moved);
        }
        let is_still = self.idle.is_some_and(|idle| now.saturating_since(self.still_since) >= idle);
        let has_passed = |at: Option<Time>| at.is_some_and(|at| at <= now);
        self.look_later(now);
        let [total, head] = self.given;
        match (has_passed(self.total), has_passed(self.head)) {
            (true, _) => Some(Error::deadline(total)),
            (_, true) => Some(Error::deadline(head)),
            _ => is_still.then(|| Error::deadline(self.idle)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u32) -> Time {
        Time::ZERO.saturating_add(SECOND * seconds)
    }

    #[test]
    fn the_head_has_a_time_of_its_own() {
        let mut deadlines = StreamDeadlines::new(at(0), (Some(SECOND * 10), None), Some(SECOND * 2), None, 0);
        assert_eq!(deadlines.next(), Some(at(2)));
        assert!(
            deadlines.late(at(1), [true, false], 0).is_none()
                && deadlines.late(at(2), [true, false], 0).is_some()
        );
        deadlines.head_is_here();
        assert_eq!(deadlines.next(), Some(at(10)));
        assert!(
            deadlines.late(at(9), [true, false], 0).is_none()
                && deadlines.late(at(10), [false; 2], 0).is_some()
        );
    }

    #[test]
    fn silence_counts_while_somebody_waits() {
        let mut deadlines = StreamDeadlines::new(at(0), (None, None), None, Some(SECOND * 4), 0);
        assert_eq!(deadlines.next(), Some(at(1)));
        assert!(deadlines.late(at(8), [true, false], 0).is_none(), "the head has not come");
        deadlines.head_is_here();
        assert!(deadlines.late(at(9), [false; 2], 0).is_none(), "nobody waits");
        assert!(deadlines.late(at(12), [true, false], 1).is_none(), "something has moved");
        assert!(
            deadlines.late(at(15), [true, false], 1).is_none()
                && deadlines.late(at(16), [true, false], 1).is_some()
        );
    }
}
