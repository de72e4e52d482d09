//! The contract between protocol machines and their drivers, and types that both sides share.
//!
//! [`ProtocolMachine`] is one end of a connection of any version: bytes in, [`Event`]s and [`Notice`]s out;
//! commands in, bytes out. Refusals are a [`SendError`], ends a [`ConnectionError`], both over the [`Rule`]s
//! of a version.
//!
//! [`Limits`] is what a peer may make a connection hold or do. [`Time`] and [`OutBuf`] are how machines know
//! time and hand out bytes without knowing a clock or a socket. [`MemoryAccount`] is what the memory of a
//! connection is charged to, [`StreamKey`] names a stream to both sides.
//!
//! Most people want the crate `alula`, which hands on what they need from here.
//!
//! ```
//! use alula::machine::{OutBuf, Time};
//! use std::time::Duration;
//!
//! let mut out = OutBuf::new();
//! out.extend(b"bytes on their way to a socket");
//! let deadline = Time::ZERO.saturating_add(Duration::from_secs(5));
//! assert!(!out.unsent().is_empty() && deadline > Time::ZERO);
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod account;
mod bucket;
mod error;
mod event;
mod exceeded;
mod limits;
mod notice;
mod out_buf;
mod protocol_machine;
mod rule;
mod send_error;
mod stream_key;
mod time;

pub use account::{MemoryAccount, MemoryBudget, OverBudget, Reservation};
pub use bucket::TokenBucket;
pub use error::{Awaited, ConnectionError};
pub use event::{Event, Received};
pub use exceeded::{Exceeded, Measure};
pub use limits::Limits;
pub use notice::{Farewell, Notice, Origin, Reason, Reset};
pub use out_buf::OutBuf;
pub use protocol_machine::ProtocolMachine;
pub use rule::{Rule, Scope};
pub use send_error::SendError;
pub use stream_key::{StreamKey, UnknownStream};
pub use time::Time;
