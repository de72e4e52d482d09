//! HTTP/1.1 (RFC 9112) as a machine without sockets or clocks: bytes in, events out; commands in, bytes out.
//!
//! [`Connection`] is one machine for both roles. It can be held as a plain value, without a runtime, which
//! makes it fit for tests, simulations, and drivers of all kinds. To send requests, use the crate `alula`
//! instead.
//!
//! The parser is strict: a message that RFC 9112 forbids is refused, since requests are smuggled where two
//! recipients forgive different faults. [`Leniency`] names each fault that a peer may be forgiven.
//!
//! Errors are sorted by the party at fault: [`ConnectionError`] and [`Violation`] are about the peer, and
//! each names the rule and its section; [`SendError`] and [`UnknownStream`] are about the caller, and a
//! refused command has changed nothing.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod config;
mod connection;
mod content;
mod error;
mod event;
mod guard;
mod head;

pub use alula_fields::{Hole, RequestHead, ResponseHead};
pub use alula_machine::{StreamKey, UnknownStream};
pub use config::{Config, Leniency, Spelling};
pub use connection::Connection;
pub use error::{Awaited, ConnectionError, SendError};
pub use event::{Event, Notice, Received};
pub use guard::violation::Violation;
pub use head::prepared::Prepared;
