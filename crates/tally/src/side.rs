//! Sides: labels of threads, so that the client's allocations and the server's can be told apart in one
//! process.

use std::fmt;
use std::marker::PhantomData;

use crate::counts::{Counts, Shared};
use crate::local;

/// A label that a thread can have; what the thread does is counted under it.
///
/// Threads start as [`Side::NONE`], also those that a labelled thread starts.
#[derive(Copy, Clone, Eq, PartialEq, Hash)]
pub struct Side(u8);

const SIDES: usize = 9;

static COUNTS: [Shared; SIDES] = [const { Shared::new() }; SIDES];

impl Side {
    /// The label of threads that were given none.
    pub const NONE: Self = Self(0);
    /// The client's threads.
    pub const CLIENT: Self = Self(1);
    /// The server's threads.
    pub const SERVER: Self = Self(2);

    /// Returns a label of the six that have no meaning of their own, counted from zero.
    pub const fn other(index: u8) -> Option<Self> {
        if (index as usize) < SIDES - 3 { Some(Self(index + 3)) } else { None }
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..SIDES as u8).map(Self)
    }

    #[inline]
    pub(crate) fn index(self) -> u8 {
        self.0
    }

    #[inline]
    pub(crate) fn shared(self) -> &'static Shared {
        &COUNTS[self.0 as usize % SIDES]
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => f.write_str("none"),
            Self::CLIENT => f.write_str("client"),
            Self::SERVER => f.write_str("server"),
            Self(index) => write!(f, "other {}", index - 3),
        }
    }
}

/// Gives the calling thread a label from now on and says which one it had. Costs a store.
#[inline]
pub fn set_side(side: Side) -> Side {
    local::set_side(side)
}

/// Gives the calling thread a label until the guard is dropped, such as around one poll of a future.
#[inline]
pub fn enter(side: Side) -> SideGuard {
    SideGuard { before: set_side(side), _not_send: PhantomData }
}

/// Gives the thread its former label back when dropped; made by [`enter`]. Stays on its thread.
#[derive(Debug)]
#[must_use = "the label ends when the guard is dropped"]
pub struct SideGuard {
    before: Side,
    _not_send: PhantomData<*const ()>,
}

impl Drop for SideGuard {
    #[inline]
    fn drop(&mut self) {
        set_side(self.before);
    }
}

pub(crate) fn counts(side: Side) -> Counts {
    side.shared().load()
}
