//! Makes a connection: accepted or opened, its version chosen.

pub(crate) mod accept;
pub(crate) mod connect;
pub(crate) mod opening;
pub(crate) mod version;
