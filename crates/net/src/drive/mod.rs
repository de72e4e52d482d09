//! Moves bytes between the socket and the state of a connection, and wakes callers.

pub(crate) mod asked;
pub(crate) mod breach;
pub(crate) mod client_task;
pub(crate) mod keep;
pub(crate) mod open_stream;
pub(crate) mod orphaned;
pub(crate) mod pool;
pub(crate) mod reader;
pub(crate) mod reuse;
pub(crate) mod server_task;
pub(crate) mod shared;
pub(crate) mod tallies;
pub(crate) mod turn;
pub(crate) mod wakers;
pub(crate) mod write;
