//! A status that is no success as an error, which keeps the response.

use std::fmt;

use alula_net::{Cause, Error, Phase, Retry};

use crate::Response;

/// A response whose status is no success, as an error. The response is within, with its content still to be read.
///
/// It becomes an [`Error`] with [`Cause::Status`] where one is asked for; that drops the response.
#[derive(Debug)]
pub struct StatusError {
    response: Box<Response>,
}

impl Response {
    /// The response, if its status is 2xx (RFC 9110 §15.3).
    ///
    /// # Errors
    /// The status is another. The error holds the response.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula_client::Error> {
    /// # let client = alula_client::Client::new()?;
    /// let response = client.get("https://example.com/").send().await?.success()?;
    ///
    /// match client.get("https://example.com/none").send().await?.success() {
    ///     Ok(response) => drop(response),
    ///     Err(error) => println!("it says: {}", error.into_response().text(1000).await?),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn success(self) -> Result<Self, StatusError> {
        if self.status().is_success() { Ok(self) } else { Err(StatusError { response: Box::new(self) }) }
    }
}

impl StatusError {
    /// The response.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// The response, whose content may be read.
    pub fn into_response(self) -> Response {
        *self.response
    }

    fn cause(&self) -> Cause {
        Cause::Status(self.response.status())
    }
}

impl std::error::Error for StatusError {}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause().fmt(f)
    }
}

impl From<StatusError> for Error {
    fn from(error: StatusError) -> Self {
        Self::new(Phase::Head, error.cause(), Retry::IfIdempotent)
    }
}
