//! The reasons for which properties are refused, or a store does not open with its types.

use std::{
    error,
    fmt::{self, Write as _},
};

use alula::fields::OneLine;

use super::list::List;
use crate::engine::EngineError;

/// The reason for which a type of the configuration is refused, or a kept list cannot be read.
///
/// `Display` gives one line, in which whatever a terminal would obey is escaped.
#[derive(Debug)]
#[non_exhaustive]
pub struct PropertyError(String);

/// The reason for which properties are not set.
#[derive(Debug)]
pub(crate) enum SetError {
    /// There is no type of this name.
    UnknownType,
    /// A reason for each property that is refused.
    Refused(List),
    /// The table is full: too many buckets have properties of their own, or the lists of all are too long.
    Full,
    /// The list was not kept.
    Engine(EngineError),
}

impl PropertyError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(f).write_str(&self.0)
    }
}

impl error::Error for PropertyError {}

impl From<List> for SetError {
    fn from(reasons: List) -> Self {
        Self::Refused(reasons)
    }
}

impl From<EngineError> for SetError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}
