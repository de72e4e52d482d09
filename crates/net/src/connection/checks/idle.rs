//! The idle time of a connection: the facts that tell an idle one from a busy one, and the bounds of its idle
//! time and its life.
//!
//! A connection is idle while no stream is open. PING, SETTINGS and WINDOW_UPDATE do not count as use. A
//! client sets the bounds with [`Keep`](crate::Keep); a server's come from `Limits::idle_timeout` and begin
//! when the connection was accepted.

use std::{sync::Arc, time::Duration};

use alula_machine::Time;

/// The time between two checks, after which a connection without a new stream gives memory back; less if
/// peers have less time than this.
pub(crate) const LOOK_AFTER: Duration = Duration::from_secs(1);

/// An observer of a connection that becomes idle, and is used again.
///
/// Both are called while the connection is locked, so an implementation does memory work only.
pub trait IdleObserver: Send + Sync {
    /// Called when no stream has been open for about a second, or since the connection began.
    fn idle(&self);

    /// Called when a stream is opened on a connection that was idle.
    fn busy(&self);

    /// Told the bytes that the connection holds when they are many or were, and when a request is refused for
    /// want of memory, with whether memory is [scarce](alula_machine::MemoryBudget::is_scarce).
    fn holds(&self, bytes: u64, is_scarce: bool) {
        let _ = (bytes, is_scarce);
    }

    /// Returns true if the server stops: a request that has begun, and is not all here, is handed to its
    /// connection at once. Asked while the connection is being opened, whose task is to be woken when that
    /// changes.
    fn is_stopping(&self) -> bool {
        false
    }
}

/// The facts that tell an idle connection from a busy one.
#[derive(Default)]
pub(crate) struct Idleness {
    /// Streams opened so far.
    opened: u64,
    /// The streams that had been opened at the last check.
    seen: u64,
    next: Look,
    /// The time of the first check since which nothing has happened.
    rests_since: Option<Time>,
    /// The time for which the connection is kept without a stream.
    rest: Option<Duration>,
    /// The time from which a client does not keep it any longer.
    life_ends: Option<Time>,
    /// The connection was found idle, and no stream was opened since.
    is_idle: bool,
    observer: Option<Arc<dyn IdleObserver>>,
}

/// The next check by the task.
#[derive(Clone, Copy, Default)]
enum Look {
    /// No check is planned: nothing has happened since the last one, and no idle time or life bounds the
    /// connection.
    #[default]
    Never,
    /// The time of the next check after something has happened.
    Soon(Time),
    /// The time at which the connection is to end, if nothing happens before.
    Late(Time),
}

impl Idleness {
    /// Sets the time after which the connection ends without a stream, and its longest life.
    pub(crate) fn keep(&mut self, now: Time, idle: Duration, life: Duration) {
        self.rest = Some(idle);
        self.life_ends = Some(now.saturating_add(life));
        self.next = Look::Never;
    }

    /// Begins the idle time of a server's connection, at the instant at which its time began.
    pub(crate) fn begin(&mut self, timeout: Duration, observer: Option<Arc<dyn IdleObserver>>) {
        (self.rests_since, self.rest, self.observer) = (Some(Time::ZERO), Some(timeout), observer);
        // A stream that came with the handshake has been noted already.
        self.next = Look::Never;
    }

    /// Notes that a stream was opened.
    #[inline]
    pub(crate) fn note_stream(&mut self) {
        self.opened += 1;
    }

    /// Returns true if a stream was ever opened.
    pub(crate) fn is_used(&self) -> bool {
        self.opened > 0
    }

    /// Returns true if a check is planned soon.
    #[inline]
    pub(crate) fn looks_soon(&self) -> bool {
        matches!(self.next, Look::Soon(_))
    }

    /// Plans the next check, at the interval that the bounds of the connection need. The connection is not
    /// idle any more.
    pub(crate) fn look_soon(&mut self, now: Time, often: Duration) {
        self.next = Look::Soon(now.saturating_add(self.look_after(often)));
        if let (true, Some(observer)) = (std::mem::take(&mut self.is_idle), &self.observer) {
            observer.busy();
        }
    }

    /// Returns the time between two checks: a part of the shortest bound.
    fn look_after(&self, often: Duration) -> Duration {
        let life = self.life_ends.map(|at| at.saturating_since(Time::ZERO));
        let bounds = [self.rest, life].into_iter().flatten();
        let least = bounds.fold(LOOK_AFTER, |least, time| part_of(time, 8, least));
        often.min(least.max(LOOK_AFTER / 100))
    }

    /// Records whether the connection was used since the last look; `is_quiet` says that nothing holds it
    /// now. Returns true if nothing has happened since the look before.
    pub(crate) fn look(&mut self, now: Time, is_quiet: bool, often: Duration) -> bool {
        let is_idle = is_quiet && self.opened == self.seen;
        if !is_idle {
            self.seen = self.opened;
            self.rests_since = None;
            self.next = Look::Soon(now.saturating_add(self.look_after(often)));
        }
        is_idle
    }

    /// Records that nothing has happened since the last check. Returns true if the connection has just become
    /// idle.
    pub(crate) fn rest(&mut self, now: Time) -> bool {
        self.rests_since.get_or_insert(now);
        let begins = !std::mem::replace(&mut self.is_idle, true);
        self.next = self.ends_at().map_or(Look::Never, Look::Late);
        begins
    }

    /// Tells the observer that the connection is idle.
    pub(crate) fn tell_idle(&self) {
        if let Some(observer) = &self.observer {
            observer.idle();
        }
    }

    /// Tells the observer how many bytes the connection holds.
    pub(crate) fn tell_held(&self, bytes: u64, is_scarce: bool) {
        if let Some(observer) = &self.observer {
            observer.holds(bytes, is_scarce);
        }
    }

    /// Forgets the bounds: the connection ends.
    pub(crate) fn forget_bounds(&mut self) {
        (self.life_ends, self.rest) = (None, None);
    }

    #[cfg(test)]
    const fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Returns the time of the next check, if one is planned.
    pub(crate) fn look_at(&self) -> Option<Time> {
        match self.next {
            Look::Never => None,
            Look::Soon(at) | Look::Late(at) => Some(at),
        }
    }

    /// Returns true if the connection has rested or lived long enough.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.ends_at().is_some_and(|at| at <= now)
    }

    fn ends_at(&self) -> Option<Time> {
        let rested = self.rests_since.zip(self.rest).map(|(since, rest)| since.saturating_add(rest));
        [rested, self.life_ends].into_iter().flatten().min().filter(|at| *at < Time::FAR)
    }
}

/// Returns a part of a time, and at most `most`. Dividing is what costs here, and is mostly not needed.
pub(crate) fn part_of(time: Duration, parts: u32, most: Duration) -> Duration {
    const { assert!(LOOK_AFTER.as_secs() == 1) };
    if time.as_secs() >= u64::from(parts) && most <= LOOK_AFTER { most } else { most.min(time / parts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u32) -> Time {
        Time::ZERO.saturating_add(SECOND * seconds)
    }

    /// Returns the verdict of each second for a connection that is used at the start and looked at every
    /// second.
    fn looked_at(idleness: &mut Idleness, seconds: u32) -> Vec<bool> {
        (1..=seconds)
            .map(|second| idleness.look(at(second), true, SECOND) && idleness.rest(at(second)))
            .collect()
    }

    #[test]
    fn it_becomes_idle_at_the_second_look_without_a_stream() {
        let mut idleness = Idleness::default();
        idleness.note_stream();
        idleness.look_soon(at(0), SECOND);
        assert!(idleness.is_used() && idleness.looks_soon() && !idleness.is_idle());
        assert_eq!(looked_at(&mut idleness, 3), [false, true, false]);
        assert_eq!((idleness.is_idle(), idleness.look_at()), (true, None));
        idleness.look_soon(at(4), SECOND);
        assert_eq!((idleness.is_idle(), idleness.look_at()), (false, Some(at(5))));
    }

    #[test]
    fn it_is_over_when_it_has_rested_or_lived_long_enough() {
        let mut idleness = Idleness::default();
        idleness.keep(at(0), SECOND * 10, SECOND * 100);
        looked_at(&mut idleness, 1);
        assert_eq!(idleness.look_at(), Some(at(11)));
        assert!(!idleness.is_over(at(10)) && idleness.is_over(at(11)));
        idleness.look(at(11), false, SECOND);
        assert!(!idleness.is_over(at(99)) && idleness.is_over(at(100)));
        idleness.forget_bounds();
        assert!(!idleness.is_over(at(1_000)));
    }
}
