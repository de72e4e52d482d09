//! Work in memory without a socket: heads, fields, routes.

pub(crate) mod created;
pub(crate) mod fields;
pub(crate) mod heads;
pub(crate) mod routes;
