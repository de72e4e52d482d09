//! Targets of the machine of HTTP/2.

pub(crate) mod frames;
mod h2_client;
mod h2_operations;
mod h2_pair;
mod h2_server;
mod listener;
mod side;

pub use h2_client::h2_client;
pub use h2_operations::h2_operations;
pub use h2_pair::{h2_pair, h2_peers};
pub use h2_server::h2_server;
