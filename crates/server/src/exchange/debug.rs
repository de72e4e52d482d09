//! `Debug` of what may hold credentials: they are not shown.

use std::fmt;

use alula_fields::masked_target;

use crate::exchange::{Exchange, reply::Reply, request::Request, responder::Responder};

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

impl fmt::Debug for Responder {
    /// Shows nothing of what it holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").finish_non_exhaustive()
    }
}
