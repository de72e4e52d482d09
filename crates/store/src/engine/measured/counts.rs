//! The counts of one call, on one thread or of all threads.

use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::call::CallOutcome;

/// The upper bounds of the histogram, in microseconds, with the text of their label.
pub(super) const BOUNDS: [(u64, &str); 16] = [
    (10, "0.00001"),
    (25, "0.000025"),
    (50, "0.00005"),
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (10_000_000, "10"),
];

const OUTCOMES: usize = CallOutcome::LABELS.len();

/// Counts that one thread adds to while others read them.
#[derive(Debug, Default)]
pub(super) struct Counts {
    outcomes: [AtomicU64; OUTCOMES],
    /// Calls that took no longer than a bound, but longer than the one before.
    buckets: [AtomicU64; BOUNDS.len()],
    nanos: AtomicU64,
}

/// Counts of all threads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallSum {
    pub(super) outcomes: [u64; OUTCOMES],
    pub(super) buckets: [u64; BOUNDS.len()],
    pub(super) nanos: u64,
}

impl Counts {
    pub(super) fn count(&self, outcome: CallOutcome, took: Duration) {
        self.outcomes[outcome as usize].fetch_add(1, Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(at) = BOUNDS.iter().position(|(micros, _)| nanos <= micros * 1_000) {
            self.buckets[at].fetch_add(1, Relaxed);
        }
        self.nanos.fetch_add(nanos, Relaxed);
    }
}

impl CallSum {
    pub(super) fn of<'a>(parts: impl Iterator<Item = &'a Counts>) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            outcomes: from_fn(|at| sum.outcomes[at] + part.outcomes[at].load(Relaxed)),
            buckets: from_fn(|at| sum.buckets[at] + part.buckets[at].load(Relaxed)),
            nanos: sum.nanos.wrapping_add(part.nanos.load(Relaxed)),
        })
    }

    /// Returns the number of calls. It is not less than any bucket, although a thread may count between two
    /// reads.
    pub(super) fn total(&self) -> u64 {
        self.outcomes.iter().sum::<u64>().max(self.buckets.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_in_the_first_bucket_that_is_not_below_it() {
        let counts = Counts::default();
        for (nanos, bucket) in
            [(0, Some(0)), (10_000, Some(0)), (10_001, Some(1)), (10_000_000_000, Some(15)), (u64::MAX, None)]
        {
            let before = CallSum::of([&counts].into_iter());
            counts.count(CallOutcome::Ok, Duration::from_nanos(nanos));
            let after = CallSum::of([&counts].into_iter());
            let grown = (0..BOUNDS.len()).find(|at| after.buckets[*at] > before.buckets[*at]);
            assert_eq!((grown, after.total()), (bucket, before.total() + 1), "{nanos}");
        }
    }

    #[test]
    fn bounds_are_in_order_and_labelled() {
        assert!(BOUNDS.is_sorted());
        for (micros, label) in BOUNDS {
            assert_eq!(label.parse::<f64>().map(|seconds| (seconds * 1e6).round() as u64), Ok(micros));
        }
    }
}
