//! `Debug` of servers, which hold keys and handlers: these are not shown.

use std::fmt;

use super::{
    connection_server::ConnectionServer,
    server::{Server, ServerBuilder, Stop},
};

impl fmt::Debug for ServerBuilder {
    /// Shows the limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder").field("limits", &self.config.limits).finish_non_exhaustive()
    }
}

impl fmt::Debug for Server {
    /// Shows the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address().ok()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ConnectionServer {
    /// Shows the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionServer").field("ledger", &self.ledger()).finish_non_exhaustive()
    }
}

/// Shows nothing of what it holds.
impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").finish_non_exhaustive()
    }
}

/// Shows nothing of what it holds.
#[cfg(feature = "tls")]
impl fmt::Debug for super::identity::Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}
