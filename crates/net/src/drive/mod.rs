//! Moves bytes between the socket and the state of a connection, and wakes callers.

pub(crate) mod answering;
pub(crate) mod asked;
pub(crate) mod asking;
pub(crate) mod conn;
pub(crate) mod connection_pool;
pub(crate) mod hand_over;
pub(crate) mod left;
pub(crate) mod open;
pub(crate) mod owner;
pub(crate) mod reuse;
pub(crate) mod standby;
pub(crate) mod turn;
pub(crate) mod wakes;
pub(crate) mod watching;
pub(crate) mod writing;
