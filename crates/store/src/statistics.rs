//! Counts and times of the reads and writes of objects, as `/stats` shows them.
//!
//! Counts lie in a part for each thread, so that connections of different threads write to no memory that they share. A request takes one
//! lock, for which only a reader of the statistics contends, and allocates nothing.

mod times;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alula::{Ended, Hook, Status};
use tokio::time::Instant;

pub(crate) use times::Summary;
use times::Times;

use crate::shards::Shards;

/// The time that one slot stands for. The last minute is six of them, of which the newest has just begun.
const SLOT: Duration = Duration::from_secs(10);
const SLOTS: usize = 6;

/// The operations that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads of objects, counters and data types.
    Get,
    /// Writes of them, deletions among them.
    Put,
}

/// The reads and writes of a store. Clones are handles of one table; as a [`Hook`] it counts the requests of a router.
#[derive(Clone, Debug)]
pub(crate) struct Statistics(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    parts: Shards<Part>,
}

/// The counts of a thread.
#[derive(Debug, Default)]
struct Part(Mutex<[Series; 2]>);

/// One operation on one thread.
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
    /// A table without counts.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared { began: Instant::now(), parts: Shards::default() }))
    }

    /// Counts an operation that took this long.
    pub(crate) fn note(&self, operation: Operation, took: Duration) {
        let number = self.slot_now();
        self.0.parts.mine().lock()[operation as usize].note(number, took);
    }

    /// The number of an operation since the start, and its times in the last minute.
    pub(crate) fn summary(&self, operation: Operation) -> Summary {
        let now = self.slot_now();
        let (mut total, mut times) = (0, Times::default());
        for part in self.0.parts.iter() {
            let series = &part.lock()[operation as usize];
            total += series.total;
            let is_recent = |slot: &&Slot| slot.number + SLOTS as u64 > now;
            series.slots.iter().filter(is_recent).for_each(|slot| times.add(&slot.times));
        }
        times.summary(total)
    }

    /// The time since the store was opened.
    pub(crate) fn uptime(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// The number of the slot that has begun.
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
    /// The operation of a method on a route, if it is one on an object.
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
    /// A thread that panicked left each count whole.
    fn lock(&self) -> MutexGuard<'_, [Series; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
