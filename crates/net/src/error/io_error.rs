//! Conversion of errors into `std::io::Error`.

use std::io;

use crate::error::{Error, cause::Cause};

impl From<Error> for io::Error {
    /// Converts the failure; [`io::Error::downcast`] returns it.
    fn from(error: Error) -> Self {
        let kind = match error.cause() {
            Cause::Io(kind, _) | Cause::Sink(kind, _) => *kind,
            Cause::Usage(_) | Cause::Url(_) | Cause::Field(_) | Cause::Refused(_) => {
                io::ErrorKind::InvalidInput
            }
            Cause::Coding(_)
            | Cause::Growth(_)
            | Cause::Unreadable(_)
            | Cause::MediaType(_)
            | Cause::TooLong(_) => io::ErrorKind::InvalidData,
            Cause::Timeout => io::ErrorKind::TimedOut,
            Cause::Closed | Cause::Unanswered | Cause::Http1(_) => io::ErrorKind::UnexpectedEof,
            Cause::Reset(_) | Cause::GoAway(_) | Cause::Connection(_) => io::ErrorKind::ConnectionReset,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
