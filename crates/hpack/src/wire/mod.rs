//! Integers and strings in blocks (RFC 7541 §5).

pub(crate) mod integer;
pub(crate) mod string;
