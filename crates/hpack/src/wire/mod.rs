//! Integers and strings as blocks hold them (RFC 7541 §5).

pub(crate) mod integer;
pub(crate) mod string;
