//! The events and notices of HTTP/1.1.

use crate::violation::Violation;

pub use alula_machine::{Event, Received};

/// What octets, a timeout or a command caused beside the event.
pub type Notice = alula_machine::Notice<Violation>;
