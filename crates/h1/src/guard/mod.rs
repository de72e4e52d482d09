//! The rules that a peer can break, and what the fields of a head say.

pub(crate) mod facts;
pub(crate) mod violation;
