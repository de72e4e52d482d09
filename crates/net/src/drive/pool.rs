//! The pool of a client, as its connections know it.

use std::sync::{Arc, Weak};

use crate::{connection::membership::News, drive::shared::Conn};

/// The pool of a client, which is told what becomes of the connections that are one of it.
pub trait ConnectionPool: Send + Sync {
    /// Hears the news of a connection, which holds no lock meanwhile. [`News::Lost`] comes once, and is the
    /// last; there is no connection any more if it went with its runtime.
    fn hear(&self, conn: &Weak<Conn>, news: News);

    /// Returns what it holds now, for simulations.
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
    /// The callers that wait and were not called.
    pub waiting: usize,
}
