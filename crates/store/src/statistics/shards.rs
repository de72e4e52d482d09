//! Memory in shards, one for each thread, so that threads do not write to memory that they share.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The most shards: threads beyond them share.
const SHARDS_MAX: usize = 64;

/// A shard for each thread, up to a bound.
#[derive(Debug)]
pub(crate) struct Shards<T>(Box<[Shard<T>]>);

/// A shard, on two lines of 64 bytes, since processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard<T>(T);

/// Makes as many shards as the machine runs threads at once.
impl<T: Default> Default for Shards<T> {
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, usize::from).next_power_of_two();
        Self((0..threads.min(SHARDS_MAX)).map(|_| Shard::default()).collect())
    }
}

impl<T> Shards<T> {
    /// Returns the shard of this thread.
    pub(crate) fn mine(&self) -> &T {
        &self.0[thread_number() % self.0.len()].0
    }

    /// Returns all shards.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|shard| &shard.0)
    }
}

/// Returns the number of this thread, counted from the first one that asked.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
    }
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
