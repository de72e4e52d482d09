//! The memory in which lists keep long rows in order from page to page: a bound for all snapshots of an
//! engine together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bytes of one list at first, as long as four pages, and at last.
pub(in crate::engine::fjall) const LIST_OCTETS: usize = 1024 * 1024;
const LIST_OCTETS_MAX: usize = 32 * 1024 * 1024;

/// The bytes of all lists.
const OCTETS_MAX: usize = 64 * 1024 * 1024;

/// The bytes that lists have.
#[derive(Debug, Default)]
pub(in crate::engine::fjall) struct ListMemory {
    octets: AtomicUsize,
}

/// A part of it, given back when it is dropped.
#[derive(Debug)]
pub(in crate::engine::fjall) struct ListShare {
    memory: Arc<ListMemory>,
    octets: usize,
}

impl ListMemory {
    /// Returns a first share, if there is room for it.
    pub(in crate::engine::fjall) fn share(self: &Arc<Self>) -> Option<ListShare> {
        self.take(LIST_OCTETS).then(|| ListShare { memory: Arc::clone(self), octets: LIST_OCTETS })
    }

    fn take(&self, octets: usize) -> bool {
        let taken = |all: usize| Some(all + octets).filter(|all| *all <= OCTETS_MAX);
        self.octets.fetch_update(Relaxed, Relaxed, taken).is_ok()
    }
}

impl ListShare {
    /// Doubles the share, unless it or all of them are at their bound.
    pub(in crate::engine::fjall) fn grow(&mut self) {
        if self.octets * 2 <= LIST_OCTETS_MAX && self.memory.take(self.octets) {
            self.octets *= 2;
        }
    }

    pub(in crate::engine::fjall) const fn octets(&self) -> usize {
        self.octets
    }
}

impl Drop for ListShare {
    fn drop(&mut self) {
        self.memory.octets.fetch_sub(self.octets, Relaxed);
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
        assert_eq!(one.octets(), LIST_OCTETS_MAX);
        let others: Vec<_> = std::iter::from_fn(|| memory.share()).collect();
        assert_eq!(others.len() * LIST_OCTETS, OCTETS_MAX - LIST_OCTETS_MAX);
        drop(one);
        let mut two = memory.share().expect("room again");
        two.grow();
        assert_eq!(two.octets(), 2 * LIST_OCTETS);
        drop((two, others));
        assert_eq!(memory.octets.load(Relaxed), 0);
    }
}
