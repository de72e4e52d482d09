//! A connection, as the pool's machine sees it.

use std::sync::{Arc, Weak};

use alula_net::{Conn, Version};

/// The facts of a connection that a pool needs. Tests have one of numbers.
pub(super) trait Member: Clone {
    /// A weak reference to a connection.
    type Weak: Clone;

    fn downgrade(&self) -> Self::Weak;

    /// Returns the connection, unless it was dropped.
    fn upgrade(weak: &Self::Weak) -> Option<Self>;

    /// Returns true if both are the same connection.
    fn is_same(one: &Self::Weak, other: &Self::Weak) -> bool;

    /// Returns true if it takes one request at a time.
    fn is_http1(&self) -> bool;

    /// Returns true if it may take another request.
    fn is_open(&self) -> bool;

    /// Returns the number of further requests that it takes now. One that takes none tells when it does.
    fn room(&self) -> usize;
}

impl Member for Arc<Conn> {
    type Weak = Weak<Conn>;

    fn downgrade(&self) -> Self::Weak {
        Self::downgrade(self)
    }

    #[inline]
    fn upgrade(weak: &Self::Weak) -> Option<Self> {
        weak.upgrade()
    }

    fn is_same(one: &Self::Weak, other: &Self::Weak) -> bool {
        one.ptr_eq(other)
    }

    fn is_http1(&self) -> bool {
        self.version() == Version::Http1
    }

    fn is_open(&self) -> bool {
        Conn::is_open(self)
    }

    fn room(&self) -> usize {
        Conn::room(self)
    }
}
