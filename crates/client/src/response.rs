//! The answer to a call.

use std::{fmt, net::SocketAddr};

use alula_fields::{FieldSection, Head, KnownName, Status};
use alula_net::{Body, Cause, Error, Marks, Opened, Phase, Received, Retry, Stream, Version, h2::Priority};

use crate::redirected::Redirected;

static NO_FIELDS: FieldSection = FieldSection::new();

/// A response: its head is here, its content arrives as it is asked for.
///
/// Its content is read piece by piece from [`body`](Self::body), or all at once by [`read_to_end`](Self::read_to_end),
/// [`text`](Self::text) or `json` (feature `json`). Dropping it before its content was read resets the stream.
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

    /// Sends nothing more of the request, whose writer is to be dropped.
    pub(crate) fn end_sending(&self) {
        self.body.end_sending();
    }

    /// Returns true if the server wants no more of the content of the request: it has answered with 300 or more.
    pub(crate) fn declines_content(&self) -> bool {
        self.status().code() >= 300
    }

    pub(crate) fn marks(&self) -> Option<(Marks, Option<Opened>)> {
        self.body.marks()
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
    #[doc(alias = "headers")]
    pub fn fields(&self) -> &FieldSection {
        self.head.as_ref().map_or(&NO_FIELDS, |head| &head.fields)
    }

    /// What `content-length` says (RFC 9110 §8.6): the octets on the wire, before they are [decoded](Self::is_decoded); none when
    /// it is not said. The answer to HEAD says what GET would get.
    pub fn content_length(&self) -> Option<u64> {
        let digits = self.fields().get(KnownName::CONTENT_LENGTH)?;
        let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|it| it.is_ascii_digit()));
        text?.parse().ok()
    }

    /// What `content-type` says (RFC 9110 §8.3), such as `text/html; charset=utf-8`; none when it is not said or is no text.
    pub fn content_type(&self) -> Option<&str> {
        std::str::from_utf8(self.fields().get(KnownName::CONTENT_TYPE)?).ok()
    }

    /// Whether the content is decoded while it is read, so that it is not what `content-encoding` and `content-length` say.
    pub fn is_decoded(&self) -> bool {
        self.body.is_decoded()
    }

    /// The address it came from.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.body.peer()
    }

    /// The address of this end of the connection it came by; none over what has none, such as a Unix socket. A system call.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.body.local()
    }

    /// What TLS has agreed on with the server, and its certificates; none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.body.tls()
    }

    /// Tells the server that what is still to come is wanted sooner or later than was said (RFC 9218 §6). A request says its
    /// own priority with the field `priority`.
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        self.body.reprioritise(priority)
    }

    /// The failure that the status is another than 2xx (RFC 9110 §15.3), with what was asked of whom; none when it is 2xx. Unlike
    /// [`success`](Self::success) it leaves the response as it is. Allocates when there is one.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.get("https://example.com/none").send().await?;
    /// if let Some(error) = response.status_error() {
    ///     println!("{error}"); // GET https://example.com/none: the server answered 404 Not Found
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn status_error(&self) -> Option<Error> {
        if self.status().is_success() {
            return None;
        }
        let error = Error::new(Phase::Head, Cause::Status(self.status()), Retry::IfIdempotent);
        Some(self.body.named(error))
    }

    /// The content.
    pub fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// The trailers (RFC 9110 §6.5), after what is left of the content was read and dropped.
    ///
    /// # Errors
    /// As [`Body::chunk`].
    pub async fn trailers(&mut self) -> Result<Option<&FieldSection>, Error> {
        self.body.trailers().await
    }
}

impl fmt::Debug for Response {
    /// Status and version; no fields, since they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        Stream::give_body(&mut self.body, self.head.take());
    }
}
