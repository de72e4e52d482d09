//! Targets of the machine of HTTP/1.1.

mod h1_client;
mod h1_listener;
mod h1_pair;
mod h1_server;
mod h1_side;

pub use h1_client::h1_client;
pub use h1_pair::{h1_pair, h1_peers};
pub use h1_server::h1_server;
