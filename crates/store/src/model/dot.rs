//! Dots: names of writes, each used once.

use std::sync::atomic::{AtomicU64, Ordering};

/// A store between two starts: a random number, so that no dot is used twice after a crash, a restore or a
/// copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actor(u64);

impl Actor {
    /// Creates the actor of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of the actor.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The name of one write: its actor, and the number of that write among the actor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dot {
    actor: Actor,
    count: u64,
}

impl Dot {
    /// The greatest count. No write has the one above it, which a context may therefore not name.
    pub const COUNT_MAX: u64 = u64::MAX - 1;

    /// Creates the dot of this actor and count; `None` if the count is 0 or above [`Dot::COUNT_MAX`].
    pub const fn new(actor: Actor, count: u64) -> Option<Self> {
        if count == 0 || count > Self::COUNT_MAX {
            return None;
        }
        Some(Self { actor, count })
    }

    /// Returns the actor that made the write.
    pub const fn actor(self) -> Actor {
        self.actor
    }

    /// Returns the count of the write, from 1.
    pub const fn count(self) -> u64 {
        self.count
    }
}

/// An actor that counts its writes. The count is one for all keys: a key that was removed and written again
/// gets a new dot.
#[derive(Debug)]
pub struct Dots {
    actor: Actor,
    last: AtomicU64,
}

impl Dots {
    /// Creates an actor that has made no write yet.
    pub const fn new(actor: Actor) -> Self {
        Self { actor, last: AtomicU64::new(0) }
    }

    /// Returns the next dot, which no call has returned before; `None` after [`Dot::COUNT_MAX`] of them.
    ///
    /// ```
    /// use alula_store::model::{Actor, Dots};
    ///
    /// let dots = Dots::new(Actor::new(7));
    /// let counts = [dots.next(), dots.next()].map(|dot| dot.expect("far from the last").count());
    /// assert_eq!(counts, [1, 2]);
    /// ```
    pub fn next(&self) -> Option<Dot> {
        let count = |last: u64| (last < Dot::COUNT_MAX).then(|| last + 1);
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).ok()?;
        Dot::new(self.actor, last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dot_is_the_last() {
        let dots = Dots { actor: Actor::new(1), last: AtomicU64::new(Dot::COUNT_MAX - 1) };
        assert_eq!(dots.next().map(Dot::count), Some(Dot::COUNT_MAX));
        assert_eq!(dots.next(), None);
        assert_eq!(dots.next(), None);
    }
}
