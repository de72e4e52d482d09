//! Messages that are to be sent, as the machines of both versions take them.

pub(crate) mod authority;
pub(crate) mod captures;
pub(crate) mod head;
#[cfg(feature = "http")]
pub(crate) mod http_types;
pub(crate) mod method;
pub(crate) mod request_form;
pub(crate) mod scheme;
pub(crate) mod status;
pub(crate) mod target;

use core::fmt;

use crate::{message::status::Status, section::FieldSection, value::masked::masked_target};

/// A request to send. The machine makes of the control data what its version asks for; it must not be among
/// the fields.
///
/// `Debug` hides the values of the query and what is secret among the fields.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    /// Any token, as it is to be spelled.
    pub method: &'a str,
    /// The scheme, `https` or `http` mostly; empty for CONNECT without protocol.
    pub scheme: &'a str,
    /// The host, and the port unless it is the scheme's; may be empty if the request has a `host` field.
    pub authority: &'a str,
    /// The path and query, or `*` for OPTIONS; empty for CONNECT without protocol.
    pub path: &'a str,
    /// The protocol of an extended CONNECT (RFC 8441 §4).
    pub protocol: Option<&'a str>,
    /// The fields, in order.
    pub fields: &'a FieldSection,
}

/// A response to send.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    /// The status.
    pub status: Status,
    /// The fields, in order.
    pub fields: &'a FieldSection,
}

/// A value that is given each time a prepared request is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hole<'a> {
    /// Path and query, in place of those of the head; only as the first hole.
    Path,
    /// The value of a field, which comes after the fields of the head. Any case; neither `host` nor `te`, nor
    /// a field that is about the connection.
    Field(&'a str),
}

impl fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = f.debug_struct("RequestHead");
        head.field("method", &self.method).field("scheme", &self.scheme).field("authority", &self.authority);
        head.field("path", &masked_target(self.path)).field("protocol", &self.protocol);
        head.field("fields", self.fields).finish()
    }
}
