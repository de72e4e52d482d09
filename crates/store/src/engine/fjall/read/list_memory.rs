//! The memory in which lists keep long rows in order from page to page: a bound for all snapshots of an
//! engine together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bytes that one list has at first (four pages), and at most.
pub(in crate::engine::fjall) const LIST_BYTES: usize = 1024 * 1024;
const LIST_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The bytes of all lists together.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The bytes that lists have.
#[derive(Debug, Default)]
pub(in crate::engine::fjall) struct ListMemory {
    bytes: AtomicUsize,
}

/// A share of that memory, given back when it is dropped.
#[derive(Debug)]
pub(in crate::engine::fjall) struct ListShare {
    memory: Arc<ListMemory>,
    bytes: usize,
}

impl ListMemory {
    /// Returns a first share, if there is room for it.
    pub(in crate::engine::fjall) fn share(self: &Arc<Self>) -> Option<ListShare> {
        self.take(LIST_BYTES).then(|| ListShare { memory: Arc::clone(self), bytes: LIST_BYTES })
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = |all: usize| Some(all + bytes).filter(|all| *all <= BYTES_MAX);
        self.bytes.fetch_update(Relaxed, Relaxed, taken).is_ok()
    }
}

impl ListShare {
    /// Doubles the share, unless it or all of them are at their bound.
    pub(in crate::engine::fjall) fn grow(&mut self) {
        if self.bytes * 2 <= LIST_BYTES_MAX && self.memory.take(self.bytes) {
            self.bytes *= 2;
        }
    }

    pub(in crate::engine::fjall) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for ListShare {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_up_to_their_bound_and_that_of_all() {
        let memory = Arc::new(ListMemory::default());
        let mut one = memory.share().expect("room");
        for _ in 0..10 {
            one.grow();
        }
        assert_eq!(one.bytes(), LIST_BYTES_MAX);
        let others: Vec<_> = std::iter::from_fn(|| memory.share()).collect();
        assert_eq!(others.len() * LIST_BYTES, BYTES_MAX - LIST_BYTES_MAX);
        drop(one);
        let mut two = memory.share().expect("room again");
        two.grow();
        assert_eq!(two.bytes(), 2 * LIST_BYTES);
        drop((two, others));
        assert_eq!(memory.bytes.load(Relaxed), 0);
    }
}
