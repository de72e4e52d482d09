//! Memory in shards, one for each thread, so that connections on different threads share no cache line.

use std::{
    cell::Cell,
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering},
    thread::available_parallelism,
};

/// The most shards: threads beyond them share.
const SHARDS_MAX: usize = 64;

/// The number of the next thread that uses a shard.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Shards of a value, one for each thread, up to a bound.
#[derive(Debug)]
pub(super) struct Shards<T>(Box<[Shard<T>]>);

/// A shard, on two lines of 64 bytes, since processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard<T>(T);

/// Creates as many shards as the machine runs threads at once.
impl<T: Default> Default for Shards<T> {
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        let shards = threads.next_power_of_two().min(SHARDS_MAX);
        Self((0..shards).map(|_| Shard::default()).collect())
    }
}

impl<T> Shards<T> {
    /// Returns the shard of this thread.
    #[inline]
    pub(super) fn mine(&self) -> &T {
        &self.0[number() % self.0.len()]
    }

    /// Returns all shards.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(Deref::deref)
    }
}

impl<T> Deref for Shard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Returns the number of this thread, counted from the first one that asked.
#[inline]
fn number() -> usize {
    // A thread that ends has the first part.
    let given = NUMBER.try_with(|number| {
        number.get().unwrap_or_else(|| {
            let new = NEXT.fetch_add(1, Ordering::Relaxed);
            number.set(Some(new));
            new
        })
    });
    given.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_part() {
        let shards = Shards::<AtomicUsize>::default();
        shards.mine().fetch_add(1, Ordering::Relaxed);
        shards.mine().fetch_add(1, Ordering::Relaxed);
        let counts: Vec<_> = shards.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        assert_eq!(counts.iter().sum::<usize>(), 2);
        assert_eq!(counts.iter().max(), Some(&2));
        assert_eq!(align_of::<Shard<u8>>(), 128);
    }
}
