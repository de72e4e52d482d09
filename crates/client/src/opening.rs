//! A connection being opened, by a task of its own, and those who wait for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use alula_net::{Conn, ConnectionPool, Error, Keep, Phase, Retry};
use tokio::sync::Notify;

use crate::{connecting::Route, observing, progress::Progress};

/// The outcome, once it is known. All who wait are told of it, in the order in which they came.
pub(crate) struct Opening {
    progress: Progress,
    outcome: Mutex<Option<Outcome>>,
    is_known: Notify,
}

pub(crate) type Outcome = Result<Arc<Conn>, Error>;

impl Opening {
    /// Begins to open a connection, which is then kept so long. With `connections` it is one of an origin's that take one request
    /// at a time: it is added to them, whether or not anybody waits for it.
    pub(crate) fn begin(
        route: Arc<Route>,
        connections: Option<Arc<ConnectionPool>>,
        keep: Keep,
    ) -> Arc<Self> {
        let progress = Progress::begin();
        let opening = Self { progress: progress.clone(), outcome: Mutex::default(), is_known: Notify::new() };
        let opening = Arc::new(opening);
        let teller = Teller { opening: Arc::downgrade(&opening), connections };
        tokio::spawn(async move {
            let outcome = observing::opened(progress.of(route.open()).await);
            if let Ok(conn) = &outcome {
                conn.was_opened(progress.opened());
                conn.keep(keep);
            }
            teller.tell(outcome);
        });
        opening
    }

    /// Returns the step that is under way.
    pub(crate) fn phase(&self) -> Phase {
        self.progress.phase()
    }

    /// The outcome, if it is known.
    pub(crate) fn known(&self) -> Option<Outcome> {
        self.lock().clone()
    }

    /// Returns true if the outcome is known.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_some()
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

    /// Closes the connection, if it is open already: nobody will hear of it.
    pub(crate) fn close(&self) {
        if let Some(Ok(conn)) = &*self.lock() {
            conn.close();
        }
    }

    fn tell(&self, outcome: Outcome) {
        self.lock().get_or_insert(outcome);
        self.is_known.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the outcome, also when its task dies with its runtime.
struct Teller {
    opening: Weak<Opening>,
    /// Until the outcome is known.
    connections: Option<Arc<ConnectionPool>>,
}

impl Teller {
    fn tell(mut self, outcome: Outcome) {
        if let Some(connections) = self.connections.take() {
            match &outcome {
                Ok(conn) => connections.add(conn),
                Err(_) => connections.lose(),
            }
            return self.opening.upgrade().into_iter().for_each(|opening| opening.tell(outcome.clone()));
        }
        match self.opening.upgrade() {
            Some(opening) => opening.tell(outcome),
            // Nobody is left to hear of it.
            None => outcome.into_iter().for_each(|conn| conn.close()),
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if let Some(connections) = self.connections.take() {
            connections.lose();
        }
        if let Some(opening) = self.opening.upgrade() {
            opening.tell(Err(Error::runtime_ended(opening.phase(), Retry::Safe)));
        }
    }
}
