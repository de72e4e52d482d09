//! The matrix of peers, both ways, and what the tests suppose of the peers.

mod client;
mod page;
mod peers;
mod server;
