//! A connection that is being opened, and its waiting callers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Conn, Error, Phase};
use tokio::sync::Notify;

use crate::{connecting::progress::Progress, observe::observer::Watcher};

/// The outcome, once it is known. All who wait are told of it, in the order in which they came.
pub(crate) struct Opening {
    progress: Progress,
    outcome: Mutex<Option<Outcome>>,
    is_known: Notify,
}

pub(crate) type Outcome = Result<Arc<Conn>, Error>;

impl Opening {
    /// Creates an opening that begins now, for the call of this observer.
    pub(crate) fn begin(watcher: Option<Watcher>) -> Arc<Self> {
        let opening =
            Self { progress: Progress::begin(watcher), outcome: Mutex::default(), is_known: Notify::new() };
        Arc::new(opening)
    }

    /// Returns the progress for its task to update.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the step that is under way.
    pub(crate) fn phase(&self) -> Phase {
        self.progress.phase()
    }

    /// Returns the outcome, if it is known.
    pub(crate) fn known(&self) -> Option<Outcome> {
        self.lock().clone()
    }

    /// Waits for the outcome. Dropping the future changes nothing.
    pub(crate) async fn outcome(&self) -> Outcome {
        loop {
            // It hears of what happens from here on, so that nothing is missed after the look.
            let known = self.is_known.notified();
            if let Some(outcome) = &*self.lock() {
                return outcome.clone();
            }
            known.await;
        }
    }

    /// Sets the outcome; the first one counts.
    pub(crate) fn tell(&self, outcome: Outcome) {
        self.lock().get_or_insert(outcome);
        self.is_known.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
