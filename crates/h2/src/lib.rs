//! HTTP/2 (RFC 9113, RFC 8441, RFC 9218) as a machine without sockets or clocks: octets in, events out; commands in, octets out.
//!
//! [`Connection`] is one machine for both roles. It can be held as a plain value, without a runtime, which makes it fit for
//! tests, simulations, and drivers of all kinds. Who wants to fetch something uses the crate `alula` instead.
//!
//! Errors are sorted by who is at fault: [`ConnectionError`] and [`Violation`] are about the peer, and each names the rule
//! and its section; [`SendError`] and [`UnknownStream`] are about the caller, and a refused command has changed nothing.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod absent;
mod bandwidth;
mod closed_ids;
mod config;
mod connection;
mod content;
mod contract;
mod counters;
mod dictionary;
mod error;
mod error_code;
mod event;
mod fields_in;
mod fields_out;
mod frame;
mod half;
mod hold;
mod id_table;
mod known_head;
mod last_authority;
mod prepared;
mod priority;
mod repeated;
mod resets;
mod sent_head;
mod settings;
mod state;
mod stream;
mod streams;
mod trace;
mod violation;
mod window;

pub use alula_fields::{Hole, RequestHead, ResponseHead};
pub use alula_machine::{StreamKey, UnknownStream};
pub use config::{Config, Leniency};
pub use connection::Connection;
pub use counters::Counters;
pub use error::{Awaited, ConnectionError, SendError};
pub use error_code::ErrorCode;
pub use event::{Event, Fact, Farewell, Notice, Origin, Received, Reset};
pub use frame::FrameKind;
pub use prepared::Prepared;
pub use priority::Priority;
pub use settings::Settings;
pub use streams::StreamMemory;
pub use trace::{Detail, FrameSummary};
pub use violation::{Scope, Violation};
