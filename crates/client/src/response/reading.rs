//! Reading the content of a response as a whole, and as what it is.

mod charset;
mod success;
mod text;
mod whole;

pub use success::StatusError;

use alula_net::{Cause, Error, Phase, Retry};

/// Content that is not what it was to be read as.
fn unreadable(why: String) -> Error {
    Error::new(Phase::Content, Cause::Unreadable(why.into()), Retry::Pointless)
}
