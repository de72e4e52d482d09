//! The causes that the engine itself has for an error.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::failure::FjallFailure;
use crate::engine::EngineError;

/// A cause of an error of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    /// The thread that writes ended part-way.
    Stopped,
    /// An object with a long name has no row with the whole of it.
    MissingName,
    /// A record is longer than a row takes.
    TooLong,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the engine stopped part-way",
            Self::MissingName => "the whole name of an object is missing",
            Self::TooLong => "the record is longer than 4 GiB",
        })
    }
}

impl StdError for Cause {}

/// Returns the error of a read of fjall.
pub(super) fn not_read(error: ::fjall::Error) -> EngineError {
    unreadable(FjallFailure(error))
}

/// Returns the error of a read with this cause.
pub(super) fn unreadable(cause: impl StdError + Send + Sync + 'static) -> EngineError {
    EngineError::Unreadable(Arc::new(cause))
}
