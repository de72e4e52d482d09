//! The boxes for the futures of one handler, a shelf of them for each thread.
//!
//! Rule: in the usual course a thread writes to its own shelf alone, so that threads do not wait for each other's memory.

use std::{
    pin::Pin,
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread::available_parallelism,
};

use super::{Running, Work, threads};

/// Boxes that a shelf keeps. It only ever has as many as there were requests under way at once.
const KEPT_MAX: usize = 1024;

/// More threads than these share shelves.
const SHELVES_MAX: usize = 64;

/// A future of a handler, and its place.
pub(super) type Boxed = Pin<Box<dyn Work>>;

pub(crate) struct Boxes {
    shelves: Box<[Arc<Shelf>]>,
}

/// Aligned so that no two shelves share a line of the cache.
#[repr(align(128))]
pub(super) struct Shelf {
    number: usize,
    /// Picks the shelf of a thread by its number.
    mask: usize,
    kept: Mutex<Vec<Boxed>>,
    all: Weak<Boxes>,
}

impl Boxes {
    pub(crate) fn new() -> Arc<Self> {
        let threads = available_parallelism().map_or(1, usize::from);
        let count = (2 * threads).next_power_of_two().min(SHELVES_MAX);
        Arc::new_cyclic(|all| {
            let shelf = |number| {
                Arc::new(Shelf { number, mask: count - 1, kept: Mutex::default(), all: all.clone() })
            };
            Self { shelves: (0..count).map(shelf).collect() }
        })
    }

    /// A box of this thread's shelf with the shelf; `make` makes one if there is none.
    #[inline]
    pub(crate) fn take(&self, make: impl FnOnce() -> Boxed) -> Running {
        let shelf = self.own();
        let kept = shelf.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Running::new(kept.unwrap_or_else(make), shelf.clone())
    }

    /// The shelf of this thread.
    #[inline]
    fn own(&self) -> &Arc<Shelf> {
        &self.shelves[threads::number() & (self.shelves.len() - 1)]
    }
}

impl Shelf {
    /// Returns true if it is one of these.
    #[inline]
    pub(super) fn is_of(&self, boxes: &Arc<Boxes>) -> bool {
        ptr::eq(self.all.as_ptr(), Arc::as_ptr(boxes))
    }

    /// Puts a box, whose future is gone, onto the shelf of this thread.
    #[inline]
    pub(super) fn give(&self, boxed: Boxed) {
        if threads::number() & self.mask == self.number {
            self.put(boxed);
        } else if let Some(all) = self.all.upgrade() {
            all.own().put(boxed);
        }
    }

    #[inline]
    fn put(&self, boxed: Boxed) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(boxed);
        }
    }
}
