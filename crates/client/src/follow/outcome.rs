//! A result after which a request may be sent again.

use std::fmt;

use alula_fields::Status;
use alula_net::Error;

/// The result of a request after which it may be sent again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Setback<'a> {
    /// The request failed.
    Failed(&'a Error),
    /// The response has this status, which says that the request may succeed later.
    Answered(Status),
}

impl fmt::Display for Setback<'_> {
    /// Writes the message of the failure, or the status.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Answered(status) => write!(f, "the server answered {}", status.as_u16()),
        }
    }
}
