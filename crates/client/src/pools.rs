//! The connections of one origin, by the runtime that made them.
//!
//! A socket is driven by the runtime that opened it: it stands still while that is not driven, and is lost when that ends.
//!
//! Rule 1: a call uses the connections of the runtime on which it is sent, and waits for these alone. What may be open is
//! counted by runtime as well, so that nobody waits for a runtime that is not driven.
//! Rule 2: what a runtime had is forgotten when it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Conn, ConnectionPool, Error, Phase, Retry};

use crate::{
    opening::Opening,
    runtimes::{RuntimeToken, current_id},
    sharing::Sharing,
};

/// The call is not on the runtime of its pool any more. Nothing was sent; one that goes on elsewhere begins anew.
fn left() -> Error {
    Error::runtime_ended(Phase::Queue, Retry::Safe)
}

/// The pools of one origin: one for each runtime that has called it.
pub(crate) struct Pools {
    list: Mutex<Vec<Pool>>,
    idle_max: usize,
}

/// The connections to one origin on one runtime.
pub(crate) struct Pool {
    token: RuntimeToken,
    pub(crate) state: State,
    /// The callers that wait, and the connections of HTTP/1.1 that are free.
    pub(crate) connections: Arc<ConnectionPool>,
}

/// A connection is opened by a task of its own: a call that is dropped or not polled holds up nobody who waits for the
/// same connection.
pub(crate) enum State {
    /// Nobody knows what the origin speaks.
    None,
    /// The first connection will tell.
    Opening(Arc<Opening>),
    /// It speaks HTTP/2.
    Shared(Sharing),
    /// It speaks HTTP/1.1: its connections are those of the pool.
    Single,
}

/// The pool of the runtime on which a call waits for a connection.
pub(crate) struct RuntimePool {
    token: RuntimeToken,
    pub(crate) connections: Arc<ConnectionPool>,
}

impl Pools {
    pub(crate) fn new(idle_max: usize) -> Arc<Self> {
        Arc::new(Self { list: Mutex::default(), idle_max })
    }

    /// A connection of the current runtime that needs no waiting for, unless its peer allows no more requests. Allocates
    /// nothing.
    #[inline]
    pub(crate) fn at_hand(&self, shared_max: usize) -> Option<Arc<Conn>> {
        let id = current_id()?;
        let mut list = self.lock();
        let pool = list.iter_mut().find(|pool| pool.token.is(id))?;
        let connections = match &pool.state {
            State::Shared(sharing) => return sharing.only(shared_max).cloned(),
            State::Single => pool.connections.clone(),
            State::Opening(_) | State::None => return None,
        };
        drop(list);
        connections.take()
    }

    /// The pool of the current runtime, a new one if there was none.
    ///
    /// # Errors
    /// There is no runtime.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<RuntimePool, Error> {
        let token = RuntimeToken::current()?;
        let (connections, is_new) = self.connections_of(&token);
        if is_new {
            token.tell_at_end(self);
            // The runtime may have ended meanwhile, as others may have that were not told of in time.
            self.forget_ended();
        }
        Ok(RuntimePool { token, connections })
    }

    fn connections_of(&self, token: &RuntimeToken) -> (Arc<ConnectionPool>, bool) {
        let mut list = self.lock();
        if let Some(pool) = list.iter().find(|pool| pool.token.is_same_as(token)) {
            return (pool.connections.clone(), false);
        }
        let connections = Arc::new(ConnectionPool::new(self.idle_max));
        list.push(Pool { token: token.clone(), state: State::None, connections: connections.clone() });
        (connections, true)
    }

    /// Does something with the pool of a place, while the runtime is there and the call is on it.
    ///
    /// # Errors
    /// The runtime has ended, or the call is polled on another one.
    pub(crate) fn with<T>(&self, place: &RuntimePool, work: impl FnOnce(&mut Pool) -> T) -> Result<T, Error> {
        place.check()?;
        let mut list = self.lock();
        let pool = list.iter_mut().find(|pool| pool.token.is_same_as(&place.token));
        pool.map(work).ok_or_else(left)
    }

    /// Returns true if nothing would be lost with them.
    pub(crate) fn are_without_connections(&self) -> bool {
        self.lock().iter().all(Pool::is_without_connections)
    }

    /// Has all connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.lock().iter().for_each(Pool::look_in);
    }

    /// Forgets the pools of runtimes that have ended, with their connections.
    pub(crate) fn forget_ended(&self) {
        let ended: Vec<Pool> = self.lock().extract_if(.., |pool| !pool.token.is_alive()).collect();
        // Connections are closed without the lock.
        drop(ended);
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pool>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// Returns true if nothing would be lost with it: no connection is open, or being opened.
    fn is_without_connections(&self) -> bool {
        match &self.state {
            State::None => true,
            State::Opening(opening) => opening.is_over(),
            State::Shared(sharing) => sharing.is_over(),
            State::Single => self.connections.is_empty(),
        }
    }

    /// The connections that requests share, if they do.
    pub(crate) fn shared(&self) -> Vec<Arc<Conn>> {
        match &self.state {
            State::Shared(sharing) => sharing.conns().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Has its connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    fn look_in(&self) {
        if let State::Shared(sharing) = &self.state {
            sharing.look_in();
        }
        self.connections.look_in();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        match &self.state {
            State::None | State::Single => {}
            State::Opening(opening) => opening.close(),
            State::Shared(sharing) => sharing.close(),
        }
        self.connections.close();
    }
}

impl RuntimePool {
    /// Returns true if the call is on the runtime whose connections these are.
    pub(crate) fn is_here(&self) -> bool {
        self.token.is_current()
    }

    /// # Errors
    /// The runtime has ended, or the call is polled on another one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_here() { Ok(()) } else { Err(left()) }
    }
}
