//! The rules that a peer can break, and the counts that bound what it may do.

pub(crate) mod counters;
pub(crate) mod resets;
pub(crate) mod violation;
