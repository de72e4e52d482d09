//! Counts and times of the reads and writes of objects, as `/stats` shows them.
//!
//! Counts lie in a part for each thread, so that connections of different threads write to no memory that
//! they share. A request takes one lock, for which only a reader of the statistics contends, and allocates
//! nothing.

mod counted;
pub(crate) mod shards;
mod times;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alula::{Ended, Hook, Status};
use tokio::time::Instant;

pub(crate) use counted::Counted;
pub(crate) use times::Summary;
use times::Times;

use crate::statistics::shards::Shards;

/// The time that one slot stands for. The last minute is six of them, of which the newest has just begun.
const SLOT: Duration = Duration::from_secs(10);
const SLOTS: usize = 6;

/// The operations with counts of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads of objects, counters and data types.
    Get,
    /// Writes and deletions of objects, counters and data types.
    Put,
}

/// The reads and writes of a store. Clones are handles of one table; as a [`Hook`] it counts the requests of
/// a router.
#[derive(Clone, Debug)]
pub(crate) struct Statistics(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    parts: Shards<Part>,
}

/// The counts of a thread.
#[derive(Debug, Default)]
struct Part(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    measured: [Series; 2],
    counted: [Rate; Counted::FIGURES.len()],
}

/// An operation that is counted and not timed.
#[derive(Debug, Default)]
struct Rate {
    total: u64,
    /// The numbers of the slots with their counts.
    slots: [(u64, u64); SLOTS],
}

/// The counts of a timed operation on one thread.
#[derive(Debug, Default)]
struct Series {
    total: u64,
    slots: [Slot; SLOTS],
}

/// The operations of ten seconds.
#[derive(Debug, Default)]
struct Slot {
    number: u64,
    times: Times,
}

impl Statistics {
    /// Creates a table without counts.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared { began: Instant::now(), parts: Shards::default() }))
    }

    /// Counts an operation that took this long.
    pub(crate) fn note(&self, operation: Operation, took: Duration) {
        let number = self.slot_now();
        self.0.parts.mine().lock().measured[operation as usize].note(number, took);
    }

    /// Returns the number of an operation since the start, and its times in the last minute.
    pub(crate) fn summary(&self, operation: Operation) -> Summary {
        let now = self.slot_now();
        let (mut total, mut times) = (0, Times::default());
        for part in self.0.parts.iter() {
            let series = &part.lock().measured[operation as usize];
            total += series.total;
            series
                .slots
                .iter()
                .filter(|slot| is_recent(slot.number, now))
                .for_each(|slot| times.add(&slot.times));
        }
        times.summary(total)
    }

    /// Counts an operation that is not timed.
    pub(crate) fn count(&self, counted: Counted) {
        let number = self.slot_now();
        self.0.parts.mine().lock().counted[counted as usize].count(number);
    }

    /// Returns the number of an operation in the last minute, and since the start.
    pub(crate) fn counts(&self, counted: Counted) -> (u64, u64) {
        let now = self.slot_now();
        let add = |(recent, total), part: &Part| {
            let rate = &part.lock().counted[counted as usize];
            let slots = rate.slots.iter().filter(|(number, _)| is_recent(*number, now));
            (recent + slots.map(|(_, count)| count).sum::<u64>(), total + rate.total)
        };
        self.0.parts.iter().fold((0, 0), add)
    }

    /// Returns the time since the store was opened.
    pub(crate) fn uptime(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// Returns the number of the present slot.
    fn slot_now(&self) -> u64 {
        self.uptime().as_secs() / SLOT.as_secs()
    }
}

/// Counts the requests that were carried out. What an object that is not there is asked for is among them.
impl Hook for Statistics {
    fn end(&self, ended: &Ended<'_>) {
        let is_carried_out =
            ended.status().is_some_and(|status| status.as_u16() < 400 || status == Status::NOT_FOUND);
        let operation = ended.route().and_then(|route| Operation::of(ended.method(), route));
        if let (true, Some(operation)) = (is_carried_out, operation) {
            self.note(operation, ended.duration());
        }
    }
}

impl Operation {
    /// Returns the operation of a method on a route, if it is one on an object.
    fn of(method: &str, route: &str) -> Option<Self> {
        let (place, has_key) = route.strip_suffix("/{key}").map_or((route, false), |place| (place, true));
        let is_of_objects = ["/keys", "/counters", "/datatypes", "/riak/{bucket}"];
        let operation = match method {
            "GET" | "HEAD" if has_key => Self::Get,
            "PUT" | "DELETE" if has_key => Self::Put,
            "POST" => Self::Put,
            _ => return None,
        };
        is_of_objects.iter().any(|end| place.ends_with(end)).then_some(operation)
    }
}

impl Part {
    /// Locks the counts; a thread that panicked left each of them whole.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rate {
    fn count(&mut self, number: u64) {
        self.total += 1;
        let slot = &mut self.slots[number as usize % SLOTS];
        if slot.0 != number {
            *slot = (number, 0);
        }
        slot.1 += 1;
    }
}

/// Returns true for a slot of the last minute.
const fn is_recent(number: u64, now: u64) -> bool {
    number + SLOTS as u64 > now
}

impl Series {
    fn note(&mut self, number: u64, took: Duration) {
        self.total += 1;
        let slot = &mut self.slots[number as usize % SLOTS];
        if slot.number != number {
            slot.number = number;
            slot.times.clear();
        }
        slot.times.note(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_by_method_and_route() {
        for (method, route, operation) in [
            ("GET", "/buckets/{bucket}/keys/{key}", Some(Operation::Get)),
            ("HEAD", "/types/{type}/buckets/{bucket}/keys/{key}", Some(Operation::Get)),
            ("DELETE", "/riak/{bucket}/{key}", Some(Operation::Put)),
            ("POST", "/riak/{bucket}", Some(Operation::Put)),
            ("POST", "/types/{type}/buckets/{bucket}/datatypes", Some(Operation::Put)),
            ("PUT", "/riak/{bucket}", None),
            ("GET", "/riak/{bucket}", None),
            ("GET", "/buckets/{bucket}/keys", None),
            ("GET", "/stats", None),
            ("POST", "/mapred", None),
        ] {
            assert_eq!(Operation::of(method, route), operation, "{method} {route}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn times_are_of_the_last_minute_and_totals_of_all() {
        let statistics = Statistics::new();
        statistics.note(Operation::Get, Duration::from_micros(100));
        tokio::time::advance(Duration::from_secs(45)).await;
        statistics.note(Operation::Get, Duration::from_micros(300));
        statistics.note(Operation::Put, Duration::from_micros(7));
        let gets = statistics.summary(Operation::Get);
        assert_eq!((gets.total, gets.count, gets.mean, gets.max), (2, 2, 200, 300));
        tokio::time::advance(Duration::from_secs(20)).await;
        let gets = statistics.summary(Operation::Get);
        assert_eq!((gets.total, gets.count, gets.max), (2, 1, 300));
        tokio::time::advance(Duration::from_secs(3600)).await;
        let puts = statistics.summary(Operation::Put);
        assert_eq!((puts.total, puts.count, puts.max), (1, 0, 0));
        // The slot of that time is used again.
        statistics.note(Operation::Put, Duration::from_micros(9));
        assert_eq!(statistics.summary(Operation::Put).max, 9);
    }

    #[tokio::test(start_paused = true)]
    async fn counts_are_of_the_last_minute_and_of_all() {
        let statistics = Statistics::new();
        statistics.count(Counted::List);
        tokio::time::advance(Duration::from_secs(45)).await;
        statistics.count(Counted::List);
        statistics.count(Counted::LinkWalk);
        assert_eq!(statistics.counts(Counted::List), (2, 2));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(statistics.counts(Counted::List), (1, 2));
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(statistics.counts(Counted::List), (0, 2));
        assert_eq!(statistics.counts(Counted::LinkWalk), (0, 1));
        assert_eq!(statistics.counts(Counted::IndexQuery), (0, 0));
    }

    #[test]
    fn threads_are_added_up() {
        let statistics = Statistics::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..1000).for_each(|_| statistics.note(Operation::Put, Duration::from_micros(1)));
                });
            }
        });
        assert_eq!(statistics.summary(Operation::Put).total, 4000);
    }
}
