//! A histogram of times: eight counts for each doubling, so that a quantile is an eighth too large at most.

use std::time::Duration;

/// The doublings that are told apart, from 8 microseconds on; 134 seconds and more are one.
const DOUBLINGS: usize = 24;
const COUNTS: usize = 8 * (DOUBLINGS + 1);

/// Times in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Times {
    counts: [u32; COUNTS],
    number: u64,
    sum: u64,
    max: u64,
}

/// Times in microseconds as `/stats` shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The operations since the start.
    pub(crate) total: u64,
    /// The operations of the last minute, to which the times belong.
    pub(crate) count: u64,
    pub(crate) mean: u64,
    pub(crate) median: u64,
    pub(crate) p95: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { counts: [0; COUNTS], number: 0, sum: 0, max: 0 }
    }
}

impl Times {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn note(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let count = &mut self.counts[place(micros)];
        *count = count.saturating_add(1);
        self.number += 1;
        self.sum = self.sum.saturating_add(micros);
        self.max = self.max.max(micros);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.number += other.number;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    pub(super) fn summary(&self, total: u64) -> Summary {
        Summary {
            total,
            count: self.number,
            mean: self.sum.checked_div(self.number).unwrap_or(0),
            median: self.quantile(50),
            p95: self.quantile(95),
            p99: self.quantile(99),
            max: self.max,
        }
    }

    /// Returns the time within which so many percent stayed.
    fn quantile(&self, percent: u64) -> u64 {
        let wanted = (self.number * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted.max(1)
        });
        found.map_or(0, |found| (least(found + 1) - 1).min(self.max))
    }
}

/// Returns the count to which a time belongs.
fn place(micros: u64) -> usize {
    if micros < 8 {
        return micros as usize;
    }
    let doubling = micros.ilog2() as usize - 2;
    if doubling > DOUBLINGS {
        return COUNTS - 1;
    }
    8 * doubling + (micros >> (doubling - 1)) as usize % 8
}

/// Returns the least time of a count.
const fn least(place: usize) -> u64 {
    match place {
        0..8 => place as u64,
        _ => ((8 + place % 8) as u64) << (place / 8 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_begins_where_the_one_before_it_ends() {
        for at in 1..COUNTS {
            assert_eq!((place(least(at)), place(least(at) - 1)), (at, at - 1), "{at}");
        }
        assert_eq!(place(u64::MAX), COUNTS - 1);
    }

    #[test]
    fn quantiles_are_an_eighth_too_large_at_most() {
        let mut times = Times::default();
        (1..=1000).for_each(|micros| times.note(Duration::from_micros(micros)));
        let summary = times.summary(1000);
        assert_eq!((summary.count, summary.mean, summary.max), (1000, 500, 1000));
        for (seen, exact) in [(summary.median, 500), (summary.p95, 950), (summary.p99, 990)] {
            assert!((exact..=exact * 9 / 8).contains(&seen), "{seen} for {exact}");
        }
    }

    #[test]
    fn of_nothing_all_is_zero() {
        let none = Times::default().summary(0);
        assert_eq!((none.count, none.mean, none.median, none.p99, none.max), (0, 0, 0, 0, 0));
    }
}
