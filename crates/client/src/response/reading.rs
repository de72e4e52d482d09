//! Reading complete content: as bytes, text or JSON.

mod charset;
mod success;
mod text;
mod whole;

pub use success::StatusError;

use alula_net::{Cause, Error, Phase, Retry};

/// Returns the error for content that cannot be read as text or JSON.
fn unreadable(why: String) -> Error {
    Error::new(Phase::Content, Cause::Unreadable(why.into()), Retry::Pointless)
}
