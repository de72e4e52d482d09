//! Reusable memory, on a shelf for each thread.

use std::thread::available_parallelism;

use super::threads;

/// The most shelves: threads beyond them share.
const SHELVES_MAX: usize = 64;

/// A shelf for each thread.
pub(crate) struct Shelves<T>(Box<[T]>);

impl<T> Shelves<T> {
    /// Creates as many shelves as threads may need; `make` is told the number of the shelf, and the mask that
    /// finds it by the number of a thread.
    pub(crate) fn new(make: impl Fn(usize, usize) -> T) -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        let count = (2 * threads).next_power_of_two().min(SHELVES_MAX);
        Self((0..count).map(|number| make(number, count - 1)).collect())
    }

    /// Returns the shelf of this thread.
    #[inline]
    pub(crate) fn own(&self) -> &T {
        &self.0[threads::number() & (self.0.len() - 1)]
    }
}
