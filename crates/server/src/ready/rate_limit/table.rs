//! Token buckets in a table of fixed size.
//!
//! A bucket is one time: the one at which it is full again (the generic cell rate algorithm). A bucket that
//! is full is as one that was never seen, so its place is free.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The parts of the table, each with a lock.
const PARTS: usize = 64;

/// The places in which a key may be.
const WAYS: usize = 8;

/// The time for one token, and the time to fill a bucket, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// The time in which a token comes.
    interval: u64,
    /// The time in which an empty bucket fills.
    full: u64,
}

pub(super) struct Table {
    parts: Box<[Part]>,
    sets_per_part: usize,
}

/// A part of the table, which shares no cache line with others.
#[repr(align(128))]
struct Part(Mutex<Box<[Set]>>);

type Set = [Bucket; WAYS];

#[derive(Clone, Copy, Default)]
struct Bucket {
    key: u64,
    full_at: u64,
}

impl Rate {
    pub(super) fn new(requests: u32, per: Duration) -> Self {
        let interval = (nanos(per) / u64::from(requests.max(1))).max(1);
        Self { interval, full: interval.saturating_mul(requests.max(1).into()) }
    }

    pub(super) fn set_burst(&mut self, requests: u32) {
        self.full = self.interval.saturating_mul(requests.max(1).into());
    }
}

impl Table {
    pub(super) fn new(keys: usize) -> Self {
        let sets_per_part = keys.div_ceil(PARTS * WAYS).max(1);
        let part = |_| Part(Mutex::new(vec![Set::default(); sets_per_part].into()));
        Self { parts: (0..PARTS).map(part).collect(), sets_per_part }
    }

    /// Takes a token for this key.
    ///
    /// # Errors
    /// There is none; the time until there is one.
    pub(super) fn take(&self, key: u64, now: Duration, rate: Rate) -> Result<(), Duration> {
        let (part, rest) = (key as usize % PARTS, key / PARTS as u64);
        let mut sets = self.parts[part].0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = place(&mut sets[(rest % self.sets_per_part as u64) as usize], key);
        let now = nanos(now);
        let full_at = bucket.full_at.max(now).saturating_add(rate.interval);
        let most = now.saturating_add(rate.full);
        if full_at > most {
            // A request that is refused takes no token: who asks again and again is not shut out for longer.
            return Err(Duration::from_nanos(full_at - most));
        }
        bucket.full_at = full_at;
        Ok(())
    }
}

/// Returns the bucket of a key, or replaces the fullest other one by a full bucket of this key.
fn place(set: &mut Set, key: u64) -> &mut Bucket {
    let found = set.iter().position(|bucket| bucket.key == key);
    let at = found.unwrap_or_else(|| {
        let fullest = (0..WAYS).min_by_key(|at| set[*at].full_at).unwrap_or(0);
        set[fullest] = Bucket { key, full_at: 0 };
        fullest
    });
    &mut set[at]
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn taken(table: &Table, key: u64, at: Duration, rate: Rate) -> usize {
        (0..1_000).take_while(|_| table.take(key, at, rate).is_ok()).count()
    }

    #[test]
    fn tokens_come_evenly_up_to_the_burst() {
        let (table, mut rate) = (Table::new(1), Rate::new(10, SECOND));
        assert_eq!(taken(&table, 7, Duration::ZERO, rate), 10);
        assert_eq!(table.take(7, Duration::ZERO, rate), Err(SECOND / 10));
        assert_eq!(table.take(7, SECOND / 20, rate), Err(SECOND / 20));
        assert_eq!(taken(&table, 7, SECOND / 2, rate), 5);
        assert_eq!(taken(&table, 7, SECOND * 100, rate), 10);
        rate.set_burst(3);
        assert_eq!(taken(&table, 8, SECOND * 100, rate), 3);
        assert_eq!(taken(&table, 8, SECOND * 101, rate), 3);
    }

    #[test]
    fn extreme_rates_neither_overflow_nor_stop() {
        for (requests, per) in
            [(0, Duration::ZERO), (u32::MAX, Duration::MAX), (1, Duration::MAX), (u32::MAX, Duration::ZERO)]
        {
            let (table, mut rate) = (Table::new(0), Rate::new(requests, per));
            rate.set_burst(0);
            assert!(table.take(1, Duration::ZERO, rate).is_ok());
            let _ = table.take(1, Duration::MAX, rate);
        }
    }

    /// The fullest bucket makes room when all places of a key are taken; emptier ones keep their counts.
    #[test]
    fn the_fullest_bucket_is_forgotten() {
        let (table, rate) = (Table::new(1), Rate::new(100, SECOND));
        let keys: Vec<u64> = (1..=8).map(|key| key * PARTS as u64).collect();
        for (spent, key) in keys.iter().enumerate() {
            (0..=spent).for_each(|_| table.take(*key, Duration::ZERO, rate).unwrap());
        }
        assert!(table.take(9 * PARTS as u64, Duration::ZERO, rate).is_ok());
        assert_eq!(taken(&table, keys[7], Duration::ZERO, rate), 92);
        assert_eq!(taken(&table, keys[0], Duration::ZERO, rate), 100);
    }
}
