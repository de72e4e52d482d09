//! The runtimes of calls, identified by tokens.
//!
//! Rule 1: tokio may give the id of a runtime that has ended to another one. An id means something only while
//! the token lives, which a task of its runtime holds: it is dropped with the runtime, or ends when nobody
//! uses the token.
//! Rule 2: what belongs to a runtime is told of its end when that task is dropped.
//! Rule 3: asking which runtime is current, and whether a token is its token, takes no lock of ours and
//! allocates nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use alula_net::Error;
use tokio::{
    runtime::{Handle, Id},
    sync::oneshot,
};

use crate::pool::pools::Pools;

const NO_RUNTIME: &str = "a call is sent inside of a tokio runtime, and there is none: use the client of the feature `blocking` without one";

/// The runtimes in use. No token is dropped while this is locked.
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

struct Known {
    id: Id,
    life: Weak<()>,
    facts: Weak<Facts>,
}

/// Identifies one runtime, even after its end.
#[derive(Clone)]
pub(crate) struct RuntimeToken(Arc<Facts>);

struct Facts {
    id: Id,
    life: Weak<()>,
    ends: Arc<Ends>,
    /// The sender whose end stops the task, once nobody has the token.
    _is_used: oneshot::Sender<()>,
}

/// The pools to notify when a runtime ends.
type Ends = Mutex<Vec<Weak<Pools>>>;

/// Returns the id of the current runtime; none outside of all.
#[inline]
pub(crate) fn current_id() -> Option<Id> {
    Handle::try_current().ok().map(|handle| handle.id())
}

impl RuntimeToken {
    /// Returns the token of the current runtime.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn current() -> Result<Self, Error> {
        let handle = Handle::try_current().map_err(|_| Error::usage(NO_RUNTIME))?;
        let id = handle.id();
        let mut known = lock(&KNOWN);
        let mut same = known.iter().filter(|known| known.id == id && known.life.strong_count() > 0);
        if let Some(facts) = same.find_map(|known| known.facts.upgrade()) {
            return Ok(Self(facts));
        }
        let (token, life) = Self::begin(id);
        known.push(Known { id, life: token.0.life.clone(), facts: Arc::downgrade(&token.0) });
        drop(known);
        // Spawned without the lock: a runtime that is shutting down drops the task at once, which may take
        // it.
        handle.spawn(life.last());
        Ok(token)
    }

    fn begin(id: Id) -> (Self, Life) {
        let (life, ends) = (Arc::new(()), Arc::new(Ends::default()));
        let (is_used, left) = oneshot::channel();
        let facts = Facts { id, life: Arc::downgrade(&life), ends: ends.clone(), _is_used: is_used };
        (Self(Arc::new(facts)), Life { life: Some(life), ends, left })
    }

    /// Returns true if the runtime with this id now is that of the token.
    #[inline]
    pub(crate) fn is(&self, id: Id) -> bool {
        self.0.id == id && self.is_alive()
    }

    /// Returns true if it is the token of the current runtime.
    pub(crate) fn is_current(&self) -> bool {
        current_id().is_some_and(|id| self.is(id))
    }

    /// Returns true if both stand for the same runtime.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns true unless the runtime has ended.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.0.life.strong_count() > 0
    }

    /// Notifies these pools at the end of the runtime.
    pub(crate) fn tell_at_end(&self, pools: &Arc<Pools>) {
        let mut ends = lock(&self.0.ends);
        if ends.len() == ends.capacity() {
            ends.retain(|pools| pools.strong_count() > 0);
        }
        ends.push(Arc::downgrade(pools));
    }
}

impl Drop for Facts {
    fn drop(&mut self) {
        lock(&KNOWN).retain(|known| known.facts.strong_count() > 0);
    }
}

/// The parts that a task of the runtime holds.
struct Life {
    life: Option<Arc<()>>,
    ends: Arc<Ends>,
    left: oneshot::Receiver<()>,
}

impl Life {
    /// Holds them until the runtime ends, or nobody has the token.
    async fn last(mut self) {
        // Nothing is sent: it ends with the sender.
        let _ = (&mut self.left).await;
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.life = None;
        let ends = std::mem::take(&mut *lock(&self.ends));
        ends.iter().filter_map(Weak::upgrade).for_each(|pools| pools.forget_ended());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn a_token_is_one_runtimes_and_ends_with_it() {
        let (one, other) = (runtime(), runtime());
        let of_one = one.block_on(async { RuntimeToken::current().unwrap() });
        one.block_on(async {
            assert!(of_one.is_current() && of_one.is_same_as(&RuntimeToken::current().unwrap()));
        });
        let of_other = other.block_on(async {
            assert!(!of_one.is_current() && of_one.is_alive());
            RuntimeToken::current().unwrap()
        });
        assert!(!of_one.is_same_as(&of_other));
        drop(one);
        assert!(!of_one.is_alive() && of_other.is_alive());
    }

    /// Tokio may give an id again once its runtime has ended.
    #[test]
    fn the_id_of_a_runtime_that_has_ended_means_nothing() {
        let id = runtime().block_on(async { current_id().unwrap() });
        let (token, life) = RuntimeToken::begin(id);
        assert!(token.is(id));
        drop(life);
        assert!(!token.is(id));
    }

    #[test]
    fn nothing_of_a_token_that_nobody_uses_is_left() {
        let runtime = runtime();
        runtime.block_on(async {
            let tasks = || Handle::current().metrics().num_alive_tasks();
            let token = RuntimeToken::current().unwrap();
            assert_eq!(tasks(), 1);
            drop(token);
            tokio::task::yield_now().await;
            assert_eq!(tasks(), 0);
        });
    }

    #[test]
    fn there_is_no_token_outside_of_all_runtimes() {
        assert!(current_id().is_none());
        assert!(RuntimeToken::current().is_err_and(|error| error.to_string().contains("tokio runtime")));
    }
}
