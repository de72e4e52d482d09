//! HTTP/2 (RFC 9113, RFC 8441, RFC 9218) as a machine without sockets or clocks: bytes in, events out;
//! commands in, bytes out.
//!
//! [`Connection`] is one machine for both roles. It can be held as a plain value, without a runtime, which
//! makes it fit for tests, simulations, and drivers of all kinds. To send requests, use the crate `alula`
//! instead.
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
mod error;
mod event;
mod flow;
mod frame;
mod guard;
mod head;
mod stream;
mod trace;

pub use alula_fields::{Hole, RequestHead, ResponseHead};
pub use alula_machine::{StreamKey, UnknownStream};
pub use config::{Config, Leniency};
pub use connection::Connection;
pub use error::{Awaited, ConnectionError, SendError};
pub use event::{Event, Fact, Farewell, Notice, Origin, Received, Reset};
pub use frame::FrameKind;
pub use frame::error_code::ErrorCode;
pub use frame::priority::Priority;
pub use frame::settings::Settings;
pub use guard::counters::Counters;
pub use guard::violation::{Scope, Violation};
pub use head::prepared::Prepared;
pub use stream::streams::StreamMemory;
pub use trace::{Detail, FrameSummary};
