//! Failures that tests plant where a disk may fail. Elsewhere there are none.

use std::io;
#[cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering};

/// A step of the engine that may fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A batch is about to be written.
    Commit,
    /// A batch was written, but fails as if its flush had.
    Committed,
    /// The disk is asked whether it takes writes.
    Probe,
    /// The embedded engine is opened anew.
    Open,
}

/// The failures that are planted.
#[derive(Default)]
pub(super) struct Faults {
    #[cfg(test)]
    planted: [AtomicUsize; 4],
}

impl Faults {
    /// Fails if a failure is planted at this step.
    #[cfg(not(test))]
    pub(super) const fn check(&self, _: Step) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn check(&self, step: Step) -> io::Result<()> {
        let planted = &self.planted[step as usize];
        let less = |count: usize| count.checked_sub(1);
        match planted.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Err(io::Error::other(format!("planted at {step:?}"))),
            Err(_) => Ok(()),
        }
    }

    /// Makes a step fail so many times.
    #[cfg(test)]
    pub(super) fn plant(&self, step: Step, times: usize) {
        self.planted[step as usize].store(times, Ordering::SeqCst);
    }
}
