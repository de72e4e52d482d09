//! Filters, which see each answer of a route before it is sent, its head and every piece of its content.

use alula_fields::{FieldSection, KnownName, Status};
use alula_net::Encoder;

use crate::exchange::request::Request;

/// Sees each answer of a handler before it is sent, may change its head, and may encode its content with an
/// [`Encoder`].
///
/// Answers to errors of handlers and to CONNECT, and those of hooks, pass it by; a [hook](crate::Hook) sees
/// the heads of all. A filter runs within the handler's calls, so it must not block. It costs no allocation
/// but its own.
///
/// ```
/// use alula::{Encoder, Error, Filter, Outgoing, Router};
///
/// struct Uppercase;
///
/// impl Filter for Uppercase {
///     fn begin(&self, answer: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
///         let is_text = answer.headers().text("content-type").is_some_and(|it| it.starts_with("text/"));
///         is_text.then(|| Box::new(Uppercase) as _)
///     }
/// }
///
/// impl Encoder for Uppercase {
///     fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
///         out.extend(content.iter().map(u8::to_ascii_uppercase));
///         Ok(())
///     }
/// }
///
/// let router = Router::new().filter(Uppercase);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no filter",
    note = "layers, which are functions of an exchange and a `Next`, are added by `wrap`, hooks such as `Cors` and `RequestId` by `hook`"
)]
pub trait Filter: Send + Sync + 'static {
    /// Processes an answer before it is sent. An encoder that is returned makes its content; `content-length`
    /// is removed then, and stated anew where the content is whole already.
    ///
    /// A filter whose encoder changes what is sent sees to the fields that speak of it, such as
    /// `content-encoding`, `etag` and `vary`, and leaves parts of content (206) as they are.
    fn begin(&self, answer: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>>;
}

/// An answer that is about to be sent.
pub struct Outgoing<'a> {
    pub(crate) request: &'a Request,
    pub(crate) status: &'a mut Status,
    pub(crate) headers: &'a mut FieldSection,
    pub(crate) content: Option<&'a [&'a [u8]]>,
    pub(crate) is_withheld: bool,
}

impl Outgoing<'_> {
    /// Returns the request of the answer.
    pub const fn request(&self) -> &Request {
        self.request
    }

    /// Returns the status.
    pub const fn status(&self) -> Status {
        *self.status
    }

    /// Returns the fields so far; `date` and what hooks add follow.
    pub const fn headers(&self) -> &FieldSection {
        self.headers
    }

    /// Returns the fields for changes.
    pub const fn headers_mut(&mut self) -> &mut FieldSection {
        self.headers
    }

    /// Returns the pieces of complete content, even for the answer to HEAD; none if it is written piece by
    /// piece, or if a handler of HEAD only states its length.
    pub fn content(&self) -> Option<impl Iterator<Item = &[u8]>> {
        self.content.map(|pieces| pieces.iter().copied())
    }

    /// Sets this status, such as 304, and removes the content. The fields that describe its content are
    /// removed, but for `etag`.
    pub fn withhold(&mut self, status: Status) {
        *self.status = status;
        self.is_withheld = true;
        forget_content(self.headers);
    }
}

/// Removes the fields that describe content. The entity-tag stays: 304 must have it (RFC 9110 §15.4.5).
pub(crate) fn forget_content(headers: &mut FieldSection) {
    for name in [
        KnownName::CONTENT_ENCODING,
        KnownName::CONTENT_LANGUAGE,
        KnownName::CONTENT_LENGTH,
        KnownName::CONTENT_RANGE,
        KnownName::CONTENT_TYPE,
        KnownName::LAST_MODIFIED,
    ] {
        headers.remove(name);
    }
}
