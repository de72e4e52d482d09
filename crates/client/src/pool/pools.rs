//! The connections of one origin, by the runtime that made them.
//!
//! A socket is driven by the runtime that opened it: it stands still while that is not driven, and is lost
//! when that ends.
//!
//! Rule 1: a call uses the connections of the runtime on which it is sent, and waits for these alone. What
//! may be open is counted by runtime as well, so that nobody waits for a runtime that is not driven.
//! Rule 2: what a runtime had is forgotten when it ends.
//! Rule 3: there is one lock for each runtime's pool. The pool of the first runtime is found without another.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use alula_net::{Conn, Error, Phase, Retry};

use crate::pool::{
    Pool,
    opener::Opener,
    runtimes::{RuntimeToken, current_id},
};

/// Checks that the call left the runtime of its pool. Nothing was sent; one that goes on elsewhere begins
/// anew.
pub(crate) fn left() -> Error {
    Error::runtime_ended(Phase::Queue, Retry::Safe)
}

/// The pools of one origin: one for each runtime that has called it.
pub(crate) struct Pools {
    /// The pool of the runtime that called first, which is found without a lock. It stays, closed, when that
    /// runtime has ended.
    first: OnceLock<RuntimePool>,
    others: Mutex<Vec<RuntimePool>>,
    opener: Opener,
}

/// The connections to one origin on one runtime.
#[derive(Clone)]
pub(crate) struct RuntimePool {
    token: RuntimeToken,
    pub(crate) pool: Arc<Pool>,
}

impl Pools {
    pub(crate) fn new(opener: Opener) -> Arc<Self> {
        Arc::new(Self { first: OnceLock::new(), others: Mutex::default(), opener })
    }

    /// Returns a connection of the current runtime that is available without waiting, if its peer allows a
    /// request. Allocates nothing.
    #[inline]
    pub(crate) fn at_hand(&self) -> Option<Arc<Conn>> {
        let id = current_id()?;
        let first = self.first.get()?;
        if first.token.is(id) {
            return first.pool.take();
        }
        let other = self.lock().iter().find(|other| other.token.is(id)).map(|other| other.pool.clone());
        other?.take()
    }

    /// Returns the pool of the current runtime, a new one if necessary.
    ///
    /// # Errors
    /// There is no runtime.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<RuntimePool, Error> {
        let token = RuntimeToken::current()?;
        let (found, is_new) = self.pool_of(&token);
        if is_new {
            token.tell_at_end(self);
            // The runtime may have ended meanwhile, as others may have that were not told of in time.
            self.forget_ended();
        }
        Ok(found)
    }

    fn pool_of(&self, token: &RuntimeToken) -> (RuntimePool, bool) {
        let mut others = self.lock();
        let mut all = self.first.get().into_iter().chain(others.iter());
        if let Some(known) = all.find(|known| known.token.is_same_as(token)) {
            return (known.clone(), false);
        }
        let pool = Arc::new(Pool::new(self.opener.clone()));
        let added = RuntimePool { token: token.clone(), pool };
        if let Err(other) = self.first.set(added.clone()) {
            others.push(other);
        }
        (added, true)
    }

    /// Returns true if no pool has connections.
    pub(crate) fn are_without_connections(&self) -> bool {
        self.all(|known| known.pool.is_over())
    }

    /// Lets all connections process what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.all(|known| {
            known.pool.look_in();
            true
        });
    }

    /// Forgets the connections of runtimes that have ended.
    pub(crate) fn forget_ended(&self) {
        let ended: Vec<RuntimePool> = self.lock().extract_if(.., |known| !known.token.is_alive()).collect();
        let first = self.first.get().filter(|first| !first.token.is_alive());
        // Connections are closed without the lock.
        ended.iter().chain(first).for_each(|known| known.pool.close());
    }

    /// Sends no further requests on HTTP/2 connections.
    pub(crate) fn leave_http2(&self) {
        let others = self.lock().clone();
        others.iter().chain(self.first.get()).for_each(|known| known.pool.leave_http2());
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        let others = std::mem::take(&mut *self.lock());
        others.iter().chain(self.first.get()).for_each(|known| known.pool.close());
    }

    fn all(&self, is: impl FnMut(&RuntimePool) -> bool) -> bool {
        let others = self.lock();
        self.first.get().into_iter().chain(others.iter()).all(is)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RuntimePool>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RuntimePool {
    /// Returns true if the call runs on the runtime of these connections.
    pub(crate) fn is_here(&self) -> bool {
        self.token.is_current()
    }

    /// Checks that the call is still on the runtime of its pool.
    ///
    /// # Errors
    /// The runtime has ended, or the call is polled on another one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_here() { Ok(()) } else { Err(left()) }
    }
}
