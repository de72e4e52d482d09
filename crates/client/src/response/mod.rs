//! The response to a call.

#[cfg_attr(not(feature = "decoding"), path = "undecoded.rs")]
pub(crate) mod decoding;
pub(crate) mod reading;
pub(crate) mod redirected;
pub(crate) mod timing;

use std::{fmt, net::SocketAddr};

use alula_fields::{FieldSection, Head, KnownName, Status};
use alula_net::{Body, Cause, Error, Marks, Opened, Phase, Received, Retry, Stream, Version, h2::Priority};

use crate::response::redirected::Redirected;

static NO_FIELDS: FieldSection = FieldSection::new();

/// A response, whose head has come, and whose content arrives as it is requested.
///
/// Its content is read piece by piece from [`body`](Self::body), or all at once by [`bytes`](Self::bytes),
/// [`text`](Self::text) or `json` (feature `json`). Dropping it before its content was read resets the stream.
pub struct Response {
    /// The head, present until it is given back.
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

    /// Stops sending the request, whose writer is about to be dropped.
    pub(crate) fn end_sending(&self) {
        Stream::end_sending_for(&self.body);
    }

    /// Sends no further request on its connection.
    pub(crate) fn leave_connection(&self) {
        Stream::leave_connection_of(&self.body);
    }

    /// Returns true if the server wants no more content of the request: it has answered with 300 or more.
    pub(crate) fn declines_content(&self) -> bool {
        self.status().as_u16() >= 300
    }

    /// Adds `decoder` to the content. From here on the head tells of that content.
    #[cfg(feature = "decoding")]
    pub(crate) fn put_decoder(&mut self, decoder: Box<dyn alula_net::Decoder>) {
        if let Some(head) = &mut self.head {
            Stream::decode(&mut self.body, decoder, &mut head.fields);
        }
    }

    pub(crate) fn marks(&self) -> Option<(Marks, Option<Opened>)> {
        Stream::marks_of(&self.body)
    }

    /// Returns the status (RFC 9110 §15).
    pub fn status(&self) -> Status {
        self.head.as_ref().and_then(|head| head.status()).unwrap_or(Status::OK)
    }

    /// Returns the version of HTTP of the response.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the fields, in the order of arrival. For a response that is [decoded](Self::is_decoded),
    /// they are those of the content that is read: `content-encoding` and `content-length`, which told of
    /// the coded content, are only in [`received_headers`](Self::received_headers).
    #[doc(alias = "fields")]
    pub fn headers(&self) -> &FieldSection {
        self.head.as_ref().map_or(&NO_FIELDS, |head| &head.fields)
    }

    /// Returns the fields as they came, in order, including those that decoding invalidates. Allocates
    /// nothing.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().decompress(true).build()?;
    /// let response = client.get("https://example.com/").send().await?;
    /// if response.is_decoded() {
    ///     let coding = response.received_headers().text("content-encoding");
    ///     println!("it came as {}", coding.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn received_headers(&self) -> &FieldSection {
        self.body.coded_headers().unwrap_or_else(|| self.headers())
    }

    /// Returns the value of `content-length` (RFC 9110 §8.6), in bytes; none if it is missing, or the content
    /// is [decoded](Self::is_decoded), whose length is known at its end. The answer to HEAD says what GET
    /// would get.
    pub fn content_length(&self) -> Option<u64> {
        let digits = self.headers().get(KnownName::CONTENT_LENGTH)?;
        // `parse` alone would accept a sign, as in `+5` (RFC 9110 §8.6).
        let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|it| it.is_ascii_digit()));
        text?.parse().ok()
    }

    /// Returns the value of `content-type` (RFC 9110 §8.3), such as `text/html; charset=utf-8`; none if it is
    /// missing or not text.
    pub fn content_type(&self) -> Option<&str> {
        std::str::from_utf8(self.headers().get(KnownName::CONTENT_TYPE)?).ok()
    }

    /// Returns true if the content is decoded while it is read, and so differs from what
    /// [came](Self::received_headers).
    pub fn is_decoded(&self) -> bool {
        self.body.is_decoded()
    }

    /// Returns the address that it came from.
    #[doc(alias = "remote_addr")]
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.body.peer()
    }

    /// Returns the address of this end of its connection; none if it has none, as with a Unix socket. A
    /// system call.
    #[doc(alias = "local_addr")]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.body.local()
    }

    /// Returns the TLS version, cipher and names of the connection, and the server's certificates; none in
    /// clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.body.tls()
    }

    /// Tells the server another priority for the rest of the response (RFC 9218 §6). A request says its own
    /// priority with the field `priority`.
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        self.body.reprioritise(priority)
    }

    /// Returns the error of a status other than 2xx (RFC 9110 §15.3), with the request and its origin; none
    /// for 2xx. Unlike [`error_for_status`](Self::error_for_status) it leaves the response as it is.
    /// Allocates when there is one.
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

    /// Returns the content.
    pub fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Returns the next bytes of the content, or nothing at its end; like [`Body::chunk`].
    ///
    /// Dropping the future loses nothing. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Body::chunk`].
    pub async fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        self.body.chunk().await
    }

    /// Returns the content as an owned value, which may be sent to another task; the head is dropped.
    /// Allocates nothing.
    pub fn into_body(mut self) -> Body {
        #[cfg(feature = "http")]
        self.note_stated();
        let body = std::mem::take(&mut self.body);
        if let Some(head) = self.head.take() {
            Stream::give_head_of(&body, head);
        }
        body
    }

    /// Returns the content as a `futures_core::Stream` of owned pieces. [`Body`] says what a piece costs;
    /// dropping the stream before its end resets the stream of HTTP.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut pieces = client.get("https://example.com/film").send().await?.bytes_stream();
    /// let next = std::future::poll_fn(|cx| futures_core::Stream::poll_next(std::pin::Pin::new(&mut pieces), cx));
    /// println!("{} bytes", next.await.transpose()?.map_or(0, |piece| piece.len()));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "stream")]
    pub fn bytes_stream(self) -> alula_net::BodyStream {
        self.into_body().into_stream()
    }

    /// Makes the body's size hint report the stated length.
    #[cfg(feature = "http")]
    pub(crate) fn note_stated(&mut self) {
        if self.headers().contains(KnownName::CONTENT_LENGTH) {
            Stream::note_stated(&mut self.body);
        }
    }

    #[cfg(feature = "http")]
    pub(crate) const fn content(&self) -> &Body {
        &self.body
    }

    /// Returns the trailers (RFC 9110 §6.5), after reading and dropping the rest of the content.
    ///
    /// # Errors
    /// As [`Body::chunk`].
    pub async fn trailers(&mut self) -> Result<Option<&FieldSection>, Error> {
        self.body.trailers().await
    }
}

impl fmt::Debug for Response {
    /// Shows status and version; no fields, since they may hold secrets.
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
