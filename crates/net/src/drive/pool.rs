//! The pool of a client, as its connections see it.

use std::sync::{Arc, Weak};

use crate::{connection::membership::News, drive::shared::Conn};

/// The pool of a client, which hears the news of its connections.
pub trait ConnectionPool: Send + Sync {
    /// Hears the news of a connection, whose lock is released. [`News::Lost`] comes once, and is the last;
    /// there is no connection any more if it went with its runtime.
    fn hear(&self, conn: &Weak<Conn>, news: News);

    /// Returns the contents of the pool, for simulations.
    fn books(&self) -> PoolBooks;
}

/// The contents of the pool of an origin, for simulations.
pub struct PoolBooks {
    /// The connections that it counts as open or being opened.
    pub open: usize,
    /// The connections that are open.
    pub members: Vec<Arc<Conn>>,
    /// The connections that it would give to the next request.
    pub free: Vec<Arc<Conn>>,
    /// The callers that wait and have not been called.
    pub waiting: usize,
}
