//! Decisions: the record that a write makes of the stored one.

use crate::model::{Dot, Moment, Record, Vtag};

/// A write that decides with the stored record what replaces it, while nothing else writes to the object.
///
/// It owns what it stores. An engine may call it more than once, each time with a new mark, when what is
/// stored has changed meanwhile: the last call counts.
pub trait Decide: Send + 'static {
    /// Decides with the stored record what is stored afterwards. For [`Verdict::Write`] the new record is
    /// written over `out`.
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict;

    /// Returns the bytes that the write holds, for the bound on the queue of writes.
    fn bytes(&self) -> usize {
        0
    }

    /// Frees what only a decision needs. An engine that will not call [`decide`](Self::decide) again may call
    /// this before it copies the record, so that large values are not held twice.
    fn release(&mut self) {}
}

/// The mark that an engine gives each write: its name, a token for its content, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The name of the write, which no other has.
    pub dot: Dot,
    /// A random token.
    pub vtag: Vtag,
    /// The time of the clock.
    pub now: Moment,
}

/// The effect of a write on what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The record that was written out replaces the stored one.
    Write,
    /// The object is removed with all that belongs to it.
    Remove,
    /// The stored record stays as it is.
    Keep,
}

/// A write that has been carried out.
#[derive(Debug)]
pub struct Written<D, O> {
    /// The write, with what it noted of its decision.
    pub decide: D,
    /// The record that is stored now. An engine may leave it out after [`Verdict::Keep`].
    pub record: Option<O>,
}
