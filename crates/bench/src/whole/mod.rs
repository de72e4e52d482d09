//! Whole clients, servers and stores over loopback.

pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod server;
pub(crate) mod store;
pub(crate) mod tls;
