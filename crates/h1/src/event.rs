//! The events and notices of HTTP/1.1.

use crate::guard::violation::Violation;

pub use alula_machine::{Event, Received};

/// An effect of bytes, a timeout or a command beside the event.
pub type Notice = alula_machine::Notice<Violation>;
