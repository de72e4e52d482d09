//! Flow control (RFC 9113 §5.2, §6.9), and windows that grow with the capacity of the path.

pub(crate) mod bandwidth;
pub(crate) mod grants;
pub(crate) mod window;
