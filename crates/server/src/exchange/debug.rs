//! `Debug` of what may hold credentials: they are not shown.

use std::fmt;

use alula_fields::masked_target;

use crate::{
    exchange::{Exchange, reply::Reply, request::Request, responder::Responder},
    listen::{
        connection_server::ConnectionServer,
        server::{Server, ServerBuilder, Stop},
    },
};

impl fmt::Debug for Request {
    /// Shows the control data without the values of the query, and the fields without those that are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method())
            .field("authority", &self.authority())
            .field("path", &masked_target(self.path()))
            .field("version", &self.version())
            .field("fields", self.headers())
            .finish()
    }
}

impl fmt::Debug for Exchange {
    /// Shows the address of the peer and the request as its own `Debug` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut exchange = f.debug_struct("Exchange");
        exchange.field("peer", &self.peer()).field("request", self.request()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Reply {
    /// Shows the status and the fields, without those that are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reply = f.debug_struct("Reply");
        reply
            .field("status", &self.answer.status)
            .field("fields", &self.answer.head.as_ref().map(|head| &head.fields))
            .finish_non_exhaustive()
    }
}

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

/// Shows nothing of what these hold.
macro_rules! opaque {
    ($($name:ty: $shown:literal;)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($shown).finish_non_exhaustive()
            }
        }
    )*};
}

opaque! {
    Responder: "Responder";
    Stop: "Stop";
}

#[cfg(feature = "tls")]
opaque! {
    crate::listen::identity::Identity: "Identity";
}

impl fmt::Debug for ConnectionServer {
    /// Shows the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionServer").field("ledger", &self.ledger()).finish_non_exhaustive()
    }
}
