//! The rules that a peer can break, and the counts that bound its behaviour.

pub(crate) mod counters;
pub(crate) mod resets;
pub(crate) mod violation;
