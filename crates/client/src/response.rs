//! The answer to a call.

use alula_fields::{FieldSection, Head, Status};
use alula_net::{Body, Received, Stream};

static NO_FIELDS: FieldSection = FieldSection::new();

/// A response: its head is here, its content arrives as it is asked for.
///
/// Dropping it before its content was read resets the stream.
pub struct Response {
    /// There until it is given back.
    head: Option<Box<Head>>,
    body: Body,
}

impl Response {
    pub(crate) fn new(stream: Stream, received: Received) -> Self {
        Self { head: Some(received.head), body: stream.into_body(received.ended) }
    }

    /// The status (RFC 9110 §15).
    pub fn status(&self) -> Status {
        self.head.as_ref().and_then(|head| head.status()).unwrap_or(Status::OK)
    }

    /// The fields, in the order of arrival.
    pub fn fields(&self) -> &FieldSection {
        self.head.as_ref().map_or(&NO_FIELDS, |head| &head.fields)
    }

    /// The content.
    pub fn body(&mut self) -> &mut Body {
        &mut self.body
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        Stream::give_body(&mut self.body, self.head.take());
    }
}
