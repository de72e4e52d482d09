//! The answer to a call.

use alula_fields::{FieldSection, Head, Status};
use alula_net::{Body, Error, Received, Stream, Version, h2::Priority};

use crate::redirected::Redirected;

static NO_FIELDS: FieldSection = FieldSection::new();

/// A response: its head is here, its content arrives as it is asked for.
///
/// Dropping it before its content was read resets the stream.
pub struct Response {
    /// There until it is given back.
    head: Option<Box<Head>>,
    version: Version,
    body: Body,
    pub(crate) redirected: Option<Box<Redirected>>,
}

impl Response {
    pub(crate) fn new(stream: Stream, received: Received) -> Self {
        Self {
            head: Some(received.head),
            version: stream.version(),
            body: stream.into_body(received.ended),
            redirected: None,
        }
    }

    /// The status (RFC 9110 §15).
    pub fn status(&self) -> Status {
        self.head.as_ref().and_then(|head| head.status()).unwrap_or(Status::OK)
    }

    /// The version of HTTP it came by.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The fields, in the order of arrival.
    pub fn fields(&self) -> &FieldSection {
        self.head.as_ref().map_or(&NO_FIELDS, |head| &head.fields)
    }

    /// Tells the server that what is still to come is wanted sooner or later than was said (RFC 9218 §6). A request says its
    /// own priority with the field `priority`.
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        self.body.reprioritise(priority)
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
