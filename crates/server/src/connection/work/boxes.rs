//! The boxes for the futures of one handler, on a shelf for each thread.
//!
//! Rule: in the usual course a thread writes to its own shelf alone, so that threads do not wait for each
//! other's memory.

use std::{
    pin::Pin,
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{Running, Shelves, Work, threads};

/// The most boxes of a shelf. It only ever has as many as there were requests under way at once.
const KEPT_MAX: usize = 1024;

/// A future of a handler, and its place.
pub(super) type Boxed = Pin<Box<dyn Work>>;

pub(crate) struct Boxes {
    shelves: Shelves<Arc<Shelf>>,
}

/// A shelf, aligned so that no two share a line of the cache.
#[repr(align(128))]
pub(super) struct Shelf {
    number: usize,
    /// The mask that picks a thread's shelf by its number.
    mask: usize,
    kept: Mutex<Vec<Boxed>>,
    all: Weak<Boxes>,
}

impl Boxes {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new_cyclic(|all| {
            let shelves = Shelves::new(|number, mask| {
                Arc::new(Shelf { number, mask, kept: Mutex::default(), all: all.clone() })
            });
            Self { shelves }
        })
    }

    /// Takes a box from this thread's shelf, with the shelf; `make` makes one if there is none.
    #[inline]
    pub(crate) fn take(&self, make: impl FnOnce() -> Boxed) -> Running {
        let shelf = self.shelves.own();
        let kept = shelf.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Running::new(kept.unwrap_or_else(make), shelf.clone())
    }
}

impl Shelf {
    /// Returns true if the box belongs here.
    #[inline]
    pub(super) fn is_of(&self, boxes: &Arc<Boxes>) -> bool {
        ptr::eq(self.all.as_ptr(), Arc::as_ptr(boxes))
    }

    /// Puts an empty box onto the shelf of this thread.
    #[inline]
    pub(super) fn give(&self, boxed: Boxed) {
        if threads::number() & self.mask == self.number {
            self.put(boxed);
        } else if let Some(all) = self.all.upgrade() {
            all.shelves.own().put(boxed);
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
