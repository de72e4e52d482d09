//! Requests without a connection: prepared for both versions, or checked for one.

use alula_fields::{Hole, RequestHead};
use alula_h1 as h1;
use alula_h2 as h2;
use alula_machine::Limits;

use crate::{
    error::{Error, cause::Refusal},
    establish::version::Version,
};

/// A request that was checked and encoded for both versions, with holes for values that change.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) h1: h1::Prepared,
    pub(crate) h2: h2::Prepared,
}

impl Prepared {
    /// Checks and encodes a request, with its names in this spelling over HTTP/1.1; values for the holes have
    /// to come in this order.
    ///
    /// # Errors
    /// Either version could not send it.
    pub fn new(head: &RequestHead<'_>, holes: &[Hole<'_>], spelling: h1::Spelling) -> Result<Self, Error> {
        Ok(Self {
            h1: h1::Prepared::new(head, holes, spelling).map_err(Error::refused)?,
            h2: h2::Prepared::new(head, holes).map_err(Error::refused)?,
        })
    }

    /// Checks what [`Machine::send_prepared`](crate::Machine::send_prepared) would refuse on any connection
    /// of this version. Allocates nothing.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn check(
        &self,
        version: Version,
        values: &[&[u8]],
        end: bool,
        limits: &Limits,
    ) -> Result<(), Refusal> {
        match version {
            Version::Http1 => Ok(self.h1.check_sendable(values, end)?),
            Version::Http2 => Ok(self.h2.check_sendable(values, end, limits)?),
        }
    }
}

/// Checks what [`Machine::send_request`](crate::Machine::send_request) would refuse on any connection of this
/// version. Allocates nothing.
///
/// # Errors
/// When it could not be sent.
pub fn check_request(
    version: Version,
    head: &RequestHead<'_>,
    end: bool,
    limits: &Limits,
) -> Result<(), Refusal> {
    match version {
        Version::Http1 => Ok(h1::Connection::check_sendable(head, end)?),
        Version::Http2 => Ok(h2::Connection::check_sendable(head, end, limits)?),
    }
}
