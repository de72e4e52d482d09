//! The failure of a request of the `http` crate.

use std::{error, fmt};

use alula_fields::{EscapedDebug, FieldError};

use alula_net::Error;

/// The failure of a request given as an [`http::Request`], or of reading its response.
#[non_exhaustive]
pub enum ExecuteError {
    /// The request, the connection or the response failed.
    Http(Error),
    /// The content of the request failed, with the error of its [`http_body::Body`].
    Content(Box<dyn error::Error + Send + Sync>),
}

impl From<Error> for ExecuteError {
    fn from(error: Error) -> Self {
        Self::Http(error)
    }
}

impl From<FieldError> for ExecuteError {
    fn from(error: FieldError) -> Self {
        Self::Http(error.into())
    }
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => error.fmt(f),
            Self::Content(_) => f.write_str("the content of the request failed"),
        }
    }
}

impl fmt::Debug for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => f.debug_tuple("Http").field(error).finish(),
            // The error of someone else, which may be shown as it likes.
            Self::Content(error) => f.debug_tuple("Content").field(&EscapedDebug(error)).finish(),
        }
    }
}

impl error::Error for ExecuteError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Http(error) => error.source(),
            Self::Content(error) => Some(&**error),
        }
    }
}
