//! Content: where it ends, and chunks (RFC 9112 §6, §7).

pub(crate) mod chunked;
pub(crate) mod framing;
