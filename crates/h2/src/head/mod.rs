//! The rules for field sections in both directions, and heads that repeat (RFC 9113 §8).

pub(crate) mod fields_in;
pub(crate) mod fields_out;
pub(crate) mod known_head;
pub(crate) mod last_authority;
pub(crate) mod prepared;
pub(crate) mod repeated;
pub(crate) mod sent_head;
