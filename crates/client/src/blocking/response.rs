//! The response, for the blocking client.

use std::{fmt, net::SocketAddr, sync::Arc};

use alula_fields::{FieldSection, Status};
use alula_net::{Bytes, Error, Version, h2::Priority};

use super::{body::Body, driver::Driver};
use crate::response::{reading::StatusError, timing::Timing};

/// A response, whose head has come, and whose content arrives as it is read.
///
/// Dropping it before its content was read tells the server that nobody reads on.
pub struct Response {
    driver: Arc<Driver>,
    /// The response, present until this is dropped.
    response: Option<crate::response::Response>,
}

impl Response {
    pub(super) fn new(driver: Arc<Driver>, response: crate::response::Response) -> Self {
        Self { driver, response: Some(response) }
    }

    /// Returns the status (RFC 9110 §15).
    pub fn status(&self) -> Status {
        self.response().status()
    }

    /// Returns the error of a status other than 2xx; see [`Response`](crate::Response::status_error).
    pub fn status_error(&self) -> Option<Error> {
        self.response().status_error()
    }

    /// Returns the version of HTTP of the response.
    pub fn version(&self) -> Version {
        self.response().version()
    }

    /// Returns the fields, in the order of arrival; see [`Response::headers`](crate::Response::headers) for
    /// content that is decoded.
    #[doc(alias = "fields")]
    pub fn headers(&self) -> &FieldSection {
        self.response().headers()
    }

    /// Returns the fields as they came, including those that decoding invalidates; see
    /// [`Response::received_headers`](crate::Response::received_headers).
    pub fn received_headers(&self) -> &FieldSection {
        self.response().received_headers()
    }

    /// Returns the value of `content-length` (RFC 9110 §8.6), in bytes; none if it is missing, or the content
    /// is decoded.
    pub fn content_length(&self) -> Option<u64> {
        self.response().content_length()
    }

    /// Returns the value of `content-type` (RFC 9110 §8.3); none if it is missing or not text.
    pub fn content_type(&self) -> Option<&str> {
        self.response().content_type()
    }

    /// Returns true if the content is decoded while it is read, and so differs from what
    /// [came](Self::received_headers).
    pub fn is_decoded(&self) -> bool {
        self.response().is_decoded()
    }

    /// Returns the address that it came from.
    #[doc(alias = "remote_addr")]
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.response().remote_address()
    }

    /// Returns the TLS version, cipher and names of the connection, and the server's certificates; none in
    /// clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.response().tls()
    }

    /// Returns the number of redirects before this response.
    pub fn redirects(&self) -> u16 {
        self.response().redirects()
    }

    /// Returns the URL of the last redirect; none without one.
    pub fn final_url(&self) -> Option<&str> {
        self.response().final_url()
    }

    /// Returns the times of the steps, if they [were recorded](super::Call::timed), as far as the content was
    /// read. Allocates nothing.
    pub fn timing(&self) -> Option<Timing> {
        self.response().timing()
    }

    /// Returns the response if its status is 2xx (RFC 9110 §15.3), and an error otherwise.
    ///
    /// ```no_run
    /// # let client = alula::blocking::Client::new()?;
    /// let text = client.get("https://example.com/").send()?.error_for_status()?.text()?;
    /// # Ok::<(), alula::Error>(())
    /// ```
    ///
    /// # Errors
    /// The status is another. The error holds the response.
    #[doc(alias = "success")]
    pub fn error_for_status(self) -> Result<Self, StatusError<Self>> {
        match self.status_error() {
            None => Ok(self),
            Some(error) => Err(StatusError::new(error, self)),
        }
    }

    /// Returns all that is left of the content, up to [`content_max`](crate::ClientBuilder::content_max),
    /// which is 64 MiB unless set.
    ///
    /// # Errors
    /// As [`Response::bytes`](crate::Response::bytes); and [`Cause::Usage`](crate::Cause::Usage) inside of a
    /// tokio runtime.
    #[doc(alias = "read_to_end")]
    pub fn bytes(&mut self) -> Result<Bytes, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.bytes())
    }

    /// Returns all that is left of the content, up to `bytes_max` bytes.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    #[doc(alias = "read_to_end")]
    pub fn bytes_max(&mut self, bytes_max: usize) -> Result<Bytes, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.bytes_max(bytes_max))
    }

    /// Returns all that is left of the content as text, up to
    /// [`content_max`](crate::ClientBuilder::content_max), which is 64 MiB unless set.
    ///
    /// # Errors
    /// As [`Response::text`](crate::Response::text); and [`Cause::Usage`](crate::Cause::Usage) inside of a
    /// tokio runtime.
    pub fn text(&mut self) -> Result<String, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.text())
    }

    /// Returns all that is left of the content as text, up to `bytes_max` bytes.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn text_max(&mut self, bytes_max: usize) -> Result<String, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.text_max(bytes_max))
    }

    /// Reads all that is left of the content as JSON, up to
    /// [`content_max`](crate::ClientBuilder::content_max), which is 64 MiB unless set.
    ///
    /// # Errors
    /// As `Response::json` of the async client; and [`Cause::Usage`](crate::Cause::Usage) inside of a tokio
    /// runtime.
    #[cfg(feature = "json")]
    pub fn json<T: serde_core::de::DeserializeOwned>(&mut self) -> Result<T, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.json())
    }

    /// Reads all that is left of the content as JSON, up to `bytes_max` bytes.
    ///
    /// # Errors
    /// As [`json`](Self::json).
    #[cfg(feature = "json")]
    pub fn json_max<T: serde_core::de::DeserializeOwned>(&mut self, bytes_max: usize) -> Result<T, Error> {
        let (driver, response) = self.parts();
        driver.wait(response.json_max(bytes_max))
    }

    /// Tells the server another priority for the rest of the response (RFC 9218 §6).
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone; and [`Cause::Usage`](crate::Cause::Usage) inside of a
    /// tokio runtime.
    pub fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        self.driver.wait(async { self.response().reprioritise(priority) })
    }

    /// Returns the content.
    pub fn body(&mut self) -> Body<'_> {
        let (driver, response) = self.parts();
        Body::new(driver, response.body())
    }

    fn parts(&mut self) -> (&Driver, &mut crate::response::Response) {
        (&self.driver, self.response.as_mut().expect("there until it is dropped"))
    }

    fn response(&self) -> &crate::response::Response {
        self.response.as_ref().expect("there until it is dropped")
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.response().fmt(f)
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        let Some(mut response) = self.response.take() else { return };
        let is_whole = response.body().is_ended();
        drop(response);
        // The stream was reset: the peer is told now, since no call may follow for hours (rule 3 of
        // `driver.rs`).
        if !is_whole {
            self.driver.settle();
        }
    }
}

/// A response that has not come yet, to a request whose content may still be being sent.
///
/// Dropping it gives the request up.
pub struct PendingResponse {
    driver: Arc<Driver>,
    /// The pending response, present until it is taken.
    pending: Option<crate::send::pending::PendingResponse>,
}

impl PendingResponse {
    pub(super) fn new(driver: &Arc<Driver>, pending: crate::send::pending::PendingResponse) -> Self {
        Self { driver: driver.clone(), pending: Some(pending) }
    }

    /// Waits until the server asks for the content or answers; see
    /// [`PendingResponse::go_ahead`](crate::PendingResponse::go_ahead).
    ///
    /// # Errors
    /// How the stream ended; and [`Cause::Usage`](crate::Cause::Usage) inside of a tokio runtime.
    pub fn go_ahead(&self) -> Result<bool, Error> {
        let pending = self.pending.as_ref().ok_or_else(|| Error::usage("the response was asked for"))?;
        self.driver.wait(pending.go_ahead())
    }

    /// Waits for the head of the response.
    ///
    /// # Errors
    /// How the stream ended; and [`Cause::Usage`](crate::Cause::Usage) inside of a tokio runtime.
    pub fn response(mut self) -> Result<Response, Error> {
        let pending = self.pending.take().ok_or_else(|| Error::usage("the response was asked for"))?;
        let response = self.driver.wait(pending.response())?;
        Ok(Response::new(self.driver.clone(), response))
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            drop(pending);
            self.driver.settle();
        }
    }
}

opaque! {
    PendingResponse: "PendingResponse";
}
