//! A connection: its task, the slots of its requests, the futures of its handlers, and its place in the table
//! of all connections.

pub(crate) mod endpoint;
pub(crate) mod handler;
pub(crate) mod scratch;
pub(crate) mod slots;
pub(crate) mod slow_turns;
pub(crate) mod spawned;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod work;
