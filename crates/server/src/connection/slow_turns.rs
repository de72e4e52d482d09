//! Slow handlers that block the task of their HTTP/2 connection, in which the handlers of its other requests
//! run too.
//!
//! Rule 1: nothing is measured unless somebody would hear of it.
//! Rule 2: the clock is read once for a turn in which handlers ran. Only after a turn that was slow, and in
//! which handlers of several routes ran, is it read after each of them for a while, to find out which.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use alula_machine::Time;

/// The duration from which on a turn is slow: pings and other handlers wait for so long.
const SLOW: Duration = Duration::from_millis(10);

/// The number of slow turns at which a route is reported, once.
const TOLD_AT: u8 = 3;

/// The number of handlers that are timed individually after a slow turn with several routes.
const TIMED_ONE_BY_ONE: u8 = 64;

/// The slow turns of the routes of a server.
#[derive(Default)]
pub(crate) struct SlowTurns(Mutex<Vec<(u32, u8)>>);

impl SlowTurns {
    /// Counts a slow turn of a route; returns true for the one to report.
    #[cold]
    fn count(&self, route: u32) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = counts.iter().position(|(of, _)| *of == route).unwrap_or(counts.len());
        if at == counts.len() {
            counts.push((route, 0));
        }
        let count = &mut counts[at].1;
        *count = count.saturating_add(1);
        *count == TOLD_AT
    }
}

/// The route of the handlers that ran in a turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ran {
    None,
    One(u32),
    Several,
}

/// The clock of the turns of one connection.
pub(crate) struct TurnClock {
    is_on: bool,
    /// The time up to which all time is attributed.
    from: Time,
    ran: Ran,
    /// The number of handlers that are still timed individually.
    one_by_one: u8,
}

/// A route with slow handlers, by number, and their time in the last turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SlowRoute {
    pub(crate) route: u32,
    pub(crate) took: Duration,
}

/// The message about handlers that block their connections.
pub(crate) struct SlowTurnsTold<'a> {
    /// The pattern of the route; none for the handler of a whole server, or for handlers outside of routes.
    pub(crate) route: Option<&'a str>,
    pub(crate) took: Duration,
}

impl fmt::Display for SlowTurnsTold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.took.as_millis();
        match self.route {
            Some(route) => write!(f, "the handlers of the route {route}")?,
            None => write!(f, "a handler")?,
        }
        write!(
            f,
            " held up the other requests of a connection {TOLD_AT} times, for {millis} ms this time: "
        )?;
        match self.route {
            Some(_) => write!(f, "run them in tasks of their own with Route::spawned"),
            None => write!(f, "run it in tasks of its own with Handler::spawned"),
        }
    }
}

impl TurnClock {
    pub(crate) const fn new(is_on: bool) -> Self {
        Self { is_on, from: Time::ZERO, ran: Ran::None, one_by_one: 0 }
    }

    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Begins a turn at this time, or at the end of the last measurement if that is later.
    pub(crate) fn begin_turn(&mut self, began: Time) {
        self.from = self.from.max(began);
    }

    /// Records that a handler of this route has run, up to now. Returns the route if it is to be told of.
    pub(crate) fn ran(
        &mut self,
        route: u32,
        now: impl FnOnce() -> Time,
        slow: &SlowTurns,
    ) -> Option<SlowRoute> {
        if self.one_by_one > 0 {
            self.one_by_one -= 1;
            return self.judge(Ran::One(route), now(), slow);
        }
        self.ran = match self.ran {
            Ran::None => Ran::One(route),
            Ran::One(other) if other == route => self.ran,
            _ => Ran::Several,
        };
        None
    }

    /// Ends a turn, whose handlers have run up to now.
    pub(crate) fn end_turn(&mut self, now: impl FnOnce() -> Time, slow: &SlowTurns) -> Option<SlowRoute> {
        match std::mem::replace(&mut self.ran, Ran::None) {
            Ran::None => None,
            ran => self.judge(ran, now(), slow),
        }
    }

    fn judge(&mut self, ran: Ran, now: Time, slow: &SlowTurns) -> Option<SlowRoute> {
        let took = now.saturating_since(self.from);
        self.from = now;
        match ran {
            _ if took <= SLOW => None,
            Ran::One(route) => slow.count(route).then_some(SlowRoute { route, took }),
            Ran::None | Ran::Several => {
                self.one_by_one = TIMED_ONE_BY_ONE;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// Turns of one handler each, of this route, which take so long.
    fn turns(clock: &mut TurnClock, slow: &SlowTurns, route: u32, millis: &[u64]) -> Vec<Option<SlowRoute>> {
        let mut now = clock.from.as_nanos() / 1_000_000 + 1000;
        let mut told = Vec::new();
        for took in millis {
            clock.begin_turn(at(now));
            now += took;
            assert_eq!(clock.ran(route, || unreachable!("it is not timed alone"), slow), None);
            told.push(clock.end_turn(|| at(now), slow));
            now += 1000;
        }
        told
    }

    #[test]
    fn a_route_is_told_of_at_its_third_slow_turn_and_never_again() {
        let (mut clock, slow) = (TurnClock::new(true), SlowTurns::default());
        let took = Duration::from_millis(12);
        let told = turns(&mut clock, &slow, 7, &[11, 10, 9, 30, 12, 400, 400]);
        let third = Some(SlowRoute { route: 7, took });
        assert_eq!(told, [None, None, None, None, third, None, None]);
        assert_eq!(turns(&mut clock, &slow, 8, &[11, 11]), [None, None]);
        let mut other = TurnClock::new(true);
        assert!(turns(&mut other, &slow, 8, &[11])[0].is_some(), "connections of one server count together");
        assert!(turns(&mut other, &slow, 8, &[11; 300]).iter().all(Option::is_none));
    }

    #[test]
    fn handlers_of_one_turn_count_once() {
        let (mut clock, slow) = (TurnClock::new(true), SlowTurns::default());
        clock.begin_turn(at(0));
        for _ in 0..8 {
            assert_eq!(clock.ran(1, || unreachable!(), &slow), None);
        }
        assert_eq!(clock.end_turn(|| at(800), &slow), None);
        assert_eq!(*slow.0.lock().unwrap(), [(1, 1)]);
        assert_eq!(clock.end_turn(|| unreachable!("no handler ran"), &slow), None);
    }

    #[test]
    fn after_a_slow_turn_of_several_routes_each_handler_is_timed() {
        let (mut clock, slow) = (TurnClock::new(true), SlowTurns::default());
        clock.begin_turn(at(0));
        let _ = (clock.ran(1, || unreachable!(), &slow), clock.ran(2, || unreachable!(), &slow));
        assert_eq!(clock.end_turn(|| at(20), &slow), None);
        assert!(slow.0.lock().unwrap().is_empty(), "nobody knows which it was");
        for now in [120, 220, 320] {
            clock.begin_turn(at(now));
            assert_eq!(clock.ran(1, || at(now + 1), &slow), None);
            let told = clock.ran(2, || at(now + 21), &slow);
            assert_eq!(told.map(|told| (told.route, told.took.as_millis())), (now == 320).then_some((2, 20)));
            assert_eq!(clock.end_turn(|| unreachable!("all of it is accounted for"), &slow), None);
        }
        assert_eq!(*slow.0.lock().unwrap(), [(2, 3)]);
    }
}
