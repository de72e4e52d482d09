//! Opening connections in tasks: a call that is dropped or not polled does not delay others that wait for the
//! same connection.

use std::sync::{Arc, Weak};

use alula_net::{Conn, Error, Retry};

use super::{Limits, Pool};
use crate::{
    connecting::Route,
    observe::connections,
    pool::opening::{Opening, Outcome},
};

/// The way to an origin.
#[derive(Clone)]
pub(crate) struct Opener {
    route: Arc<Route>,
}

impl Opener {
    pub(crate) fn new(route: Arc<Route>) -> Self {
        Self { route }
    }

    /// Returns the limits on connections to the origin on one runtime.
    pub(crate) fn limits(&self) -> Limits {
        self.route.settings().pool.limits()
    }

    /// Records what the peer of these connections has announced.
    pub(super) fn learn_of(&self, conns: &[Arc<Conn>]) {
        self.route.learn_of(conns);
    }

    /// Begins to open a connection on the current runtime. The pool is told of the outcome first, whether or
    /// not anybody waits for it.
    pub(super) fn start(&self, pool: &Arc<Pool>, opening: Arc<Opening>) {
        let (route, settings) = (self.route.clone(), self.route.settings());
        let keep = settings.pool.keep(settings.deadlines.queue);
        let progress = opening.progress().clone();
        let teller = Teller { pool: Arc::downgrade(pool), opening: Some(opening) };
        tokio::spawn(async move {
            let outcome = connections::opened(route.open(&progress).await);
            if let Ok(conn) = &outcome {
                conn.was_opened(progress.opened());
                conn.keep(keep);
            }
            teller.tell(outcome);
        });
    }
}

/// Reports the outcome, even if its task ends with its runtime.
struct Teller {
    pool: Weak<Pool>,
    /// Present until the outcome is known.
    opening: Option<Arc<Opening>>,
}

impl Teller {
    fn tell(mut self, outcome: Outcome) {
        if let Some(opening) = self.opening.take() {
            self.settle(&opening, outcome);
        }
    }

    fn settle(&self, opening: &Opening, outcome: Outcome) {
        match self.pool.upgrade() {
            Some(pool) => pool.settle(&outcome),
            // Nobody is left to hear of it.
            None => outcome.iter().for_each(|conn| conn.close()),
        }
        opening.tell(outcome);
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if let Some(opening) = self.opening.take() {
            let error = Error::runtime_ended(opening.phase(), Retry::Safe);
            self.settle(&opening, Err(error));
        }
    }
}
