//! The answer to a call, for callers that wait.

use std::{fmt, net::SocketAddr, sync::Arc};

use alula_fields::{FieldSection, Status};
use alula_net::{Bytes, Error, Version, h2::Priority};

use super::{body::Body, driver::Driver};
use crate::response::{reading::StatusError, timing::Timing};

/// A response: its head is here, its content arrives as it is read.
///
/// Dropping it before its content was read tells the server that nobody reads on.
pub struct Response {
    driver: Arc<Driver>,
    /// Present until the response is dropped.
    response: Option<crate::response::Response>,
}

impl Response {
    pub(super) fn new(driver: Arc<Driver>, response: crate::response::Response) -> Self {
        Self { driver, response: Some(response) }
    }

    /// The status (RFC 9110 §15).
    pub fn status(&self) -> Status {
        self.response().status()
    }

    /// The failure that the status is another than 2xx; see [`Response`](crate::Response::status_error).
    pub fn status_error(&self) -> Option<Error> {
        self.response().status_error()
    }

    /// The version of HTTP it came by.
    pub fn version(&self) -> Version {
        self.response().version()
    }

    /// Returns the fields, in the order of arrival; see [`Response::headers`](crate::Response::headers) for
    /// content that is decoded.
    #[doc(alias = "fields")]
    pub fn headers(&self) -> &FieldSection {
        self.response().headers()
    }

    /// Returns the fields as they came, also those that a decoder has made untrue; see
    /// [`Response::received_headers`](crate::Response::received_headers).
    pub fn received_headers(&self) -> &FieldSection {
        self.response().received_headers()
    }

    /// Returns the value of `content-length` (RFC 9110 §8.6), in bytes; none when it is not said, and of
    /// content that is decoded.
    pub fn content_length(&self) -> Option<u64> {
        self.response().content_length()
    }

    /// Returns the value of `content-type` (RFC 9110 §8.3); none if it is not said or is no text.
    pub fn content_type(&self) -> Option<&str> {
        self.response().content_type()
    }

    /// Returns true if the content is decoded while it is read, so that it is not what
    /// [came](Self::received_headers).
    pub fn is_decoded(&self) -> bool {
        self.response().is_decoded()
    }

    /// The address it came from.
    #[doc(alias = "remote_addr")]
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.response().remote_address()
    }

    /// Returns the version, cipher and names that TLS has agreed on with the server, and its certificates;
    /// none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.response().tls()
    }

    /// Returns the number of redirects that led here.
    pub fn redirects(&self) -> u16 {
        self.response().redirects()
    }

    /// Returns the URL that the last redirect led to; none if there was none.
    pub fn final_url(&self) -> Option<&str> {
        self.response().final_url()
    }

    /// Returns the times of the steps, if they [were asked for](super::Call::timed), as far as the content
    /// was read. Allocates nothing.
    pub fn timing(&self) -> Option<Timing> {
        self.response().timing()
    }

    /// The response, if its status is 2xx (RFC 9110 §15.3).
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

    /// Tells the server that what is still to come is wanted sooner or later than was said (RFC 9218 §6).
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone; and [`Cause::Usage`](crate::Cause::Usage) inside of a
    /// tokio runtime.
    pub fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        self.driver.wait(async { self.response().reprioritise(priority) })
    }

    /// The content.
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

/// A response that has not come yet, to a request whose content may still be on its way.
///
/// Dropping it gives the request up.
pub struct PendingResponse {
    driver: Arc<Driver>,
    /// Present until the response is asked for.
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
