//! Work in memory, without a socket.

pub(crate) mod answering;
pub(crate) mod created;
pub(crate) mod fields;
pub(crate) mod routers;
