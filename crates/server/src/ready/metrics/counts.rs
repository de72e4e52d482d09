//! The counts of one route.

use std::time::Duration;

use alula_fields::{Method, Status};

use crate::router::Ended;

/// The upper bounds of the histogram, in microseconds, with the text of their label.
pub(super) const BOUNDS: [(u64, &str); 14] = [
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
];

/// The labels of methods, in the order of [`number_of`].
const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "other"];

/// The labels of statuses.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counts by method; only seen methods have counts.
#[derive(Debug, Default)]
pub(super) struct Counts([Option<Box<MethodCounts>>; METHODS.len()]);

/// Counts of one method of a route.
#[derive(Clone, Debug, Default)]
pub(super) struct MethodCounts {
    by_class: [u64; CLASSES.len()],
    /// The requests that took no longer than a bound, but longer than the one before.
    buckets: [u64; BOUNDS.len()],
    /// The sum of all durations.
    pub(super) time: Duration,
    pub(super) received: u64,
    pub(super) sent: u64,
}

impl Counts {
    pub(super) fn count(&mut self, ended: &Ended<'_>) {
        let counts = self.0[number_of(ended.method())].get_or_insert_default();
        counts.by_class[class_of(ended.status())] += 1;
        let micros = ended.duration().as_micros();
        if let Some(at) = BOUNDS.iter().position(|(bound, _)| micros <= u128::from(*bound)) {
            counts.buckets[at] += 1;
        }
        counts.time = counts.time.saturating_add(ended.duration());
        counts.received += ended.received();
        counts.sent += ended.sent();
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            if let Some(other) = other {
                sum.get_or_insert_default().add(other);
            }
        }
    }

    /// Returns the seen methods, by label.
    pub(super) fn methods(&self) -> impl Iterator<Item = (&'static str, &MethodCounts)> {
        METHODS.into_iter().zip(&self.0).filter_map(|(label, counts)| Some((label, counts.as_deref()?)))
    }
}

impl MethodCounts {
    fn add(&mut self, other: &Self) {
        self.by_class.iter_mut().zip(other.by_class).for_each(|(sum, it)| *sum += it);
        self.buckets.iter_mut().zip(other.buckets).for_each(|(sum, it)| *sum += it);
        self.time = self.time.saturating_add(other.time);
        self.received += other.received;
        self.sent += other.sent;
    }

    /// Returns the seen classes of status, by label.
    pub(super) fn classes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CLASSES.into_iter().zip(self.by_class).filter(|(_, count)| *count > 0)
    }

    /// Returns the bounds by label, with the requests that took no longer.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let mut sum = 0;
        BOUNDS.iter().zip(self.buckets).map(move |((_, label), count)| {
            sum += count;
            (*label, sum)
        })
    }

    /// Returns the number of requests.
    pub(super) fn total(&self) -> u64 {
        self.by_class.iter().sum()
    }
}

fn number_of(method: &str) -> usize {
    let other = METHODS.len() - 1;
    let Some(method) = Method::standard(method) else { return other };
    METHODS[..other].iter().position(|label| *label == method.as_str()).unwrap_or(other)
}

fn class_of(status: Option<Status>) -> usize {
    status.map_or(0, |status| usize::from(status.as_u16() / 100)).min(CLASSES.len() - 1)
}
