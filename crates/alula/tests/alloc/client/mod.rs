//! Calls of the client that allocate nothing once warm.

pub(crate) mod blocking;
pub(crate) mod cookies;
pub(crate) mod decoding;
