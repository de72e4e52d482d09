//! Takes connections from listeners, as many as there is room for, with the certificate that each shows.

pub(crate) mod accepting;
pub(crate) mod connection_server;
mod debug;
pub(crate) mod descriptors;
#[cfg(feature = "tls")]
pub(crate) mod identity;
pub(crate) mod server;
