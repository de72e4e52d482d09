//! A flag that tells a thread to stop, and ends its pauses.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A flag that tells a thread to stop.
#[derive(Debug, Default)]
pub(super) struct Stop {
    flag: AtomicBool,
    lock: Mutex<()>,
    given: Condvar,
}

impl Stop {
    /// Sets the flag, and ends a pause.
    pub(super) fn stop(&self) {
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.flag.store(true, Relaxed);
        self.given.notify_all();
    }

    /// Returns the flag.
    pub(super) const fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Waits for so long, or until the flag is set. Returns true if it was given.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |_: &mut ()| !self.flag.load(Relaxed);
        drop(self.given.wait_timeout_while(lock, time, goes_on));
        self.flag.load(Relaxed)
    }
}
