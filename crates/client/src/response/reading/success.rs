//! A status other than success as an error, which keeps the response.

use std::fmt;

use alula_net::Error;

use crate::response::Response;

/// A response whose status is not success, as an error. The response is within, with its content still to be
/// read.
///
/// It becomes an [`Error`] with [`Cause::Status`](crate::Cause::Status) where one is asked for; that drops
/// the response.
#[derive(Debug)]
pub struct StatusError<R = Response> {
    error: Error,
    response: Box<R>,
}

impl Response {
    /// Returns the response if its status is 2xx (RFC 9110 §15.3), and an error otherwise.
    ///
    /// # Errors
    /// The status is another. The error holds the response.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.get("https://example.com/").send().await?.error_for_status()?;
    ///
    /// match client.get("https://example.com/none").send().await?.error_for_status() {
    ///     Ok(response) => drop(response),
    ///     Err(error) => println!("it says: {}", error.into_response().text_max(1000).await?),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "success")]
    pub fn error_for_status(self) -> Result<Self, StatusError> {
        match self.status_error() {
            None => Ok(self),
            Some(error) => Err(StatusError::new(error, self)),
        }
    }
}

impl<R> StatusError<R> {
    #[cold]
    pub(crate) fn new(error: Error, response: R) -> Self {
        Self { error, response: Box::new(response) }
    }

    /// Returns the response.
    pub fn response(&self) -> &R {
        &self.response
    }

    /// Returns the response, whose content can be read.
    pub fn into_response(self) -> R {
        *self.response
    }
}

impl<R: fmt::Debug> std::error::Error for StatusError<R> {}

impl<R> fmt::Display for StatusError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<R> From<StatusError<R>> for Error {
    fn from(error: StatusError<R>) -> Self {
        error.error
    }
}
