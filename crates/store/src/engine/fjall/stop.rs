//! The order to a thread that it stops, which ends its pauses.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// An order that may be given.
#[derive(Debug, Default)]
pub(super) struct Stop {
    flag: AtomicBool,
    lock: Mutex<()>,
    given: Condvar,
}

impl Stop {
    /// Gives the order.
    pub(super) fn stop(&self) {
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.flag.store(true, Relaxed);
        self.given.notify_all();
    }

    /// Returns the flag that is true once the order was given.
    pub(super) const fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Waits for so long, or for the order. Returns true if it was given.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |_: &mut ()| !self.flag.load(Relaxed);
        drop(self.given.wait_timeout_while(lock, time, goes_on));
        self.flag.load(Relaxed)
    }
}
