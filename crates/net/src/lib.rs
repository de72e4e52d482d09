//! The loops that move bytes between sockets and Alula's machines.
//!
//! For users there is nothing here: they see `alula`. A client opens a connection with [`Connect`], a server takes
//! requests from one with [`Conn::turn_of_server`]; both hold a [`Stream`] per request, read its content through a
//! [`Body`] and write through a [`BodyWriter`]. How the lock, the reading and the tasks play together stands at the
//! top of `conn.rs`.
#![forbid(unsafe_code)]

mod accept;
mod body;
mod boxed;
mod claim;
mod conn;
mod connect;
mod content;
mod deadlines;
mod decoder;
mod error;
mod fault;
mod feeding;
mod hand_over;
#[cfg(feature = "tls")]
mod handshake;
mod idle;
mod io_error;
mod ledger;
mod link;
mod machine;
mod memory;
mod open;
mod overrun;
mod owner;
mod pace;
mod read_buf;
mod shared;
#[cfg(feature = "simulation")]
pub mod simulation;
mod slot;
mod standby;
mod stream;
mod timing;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_facts;
mod transport;
mod vacancy;
mod version;
mod writer;

pub use accept::Accept;
pub use body::Body;
pub use conn::{Conn, FrameObserver};
pub use connect::{AtEnd, Connect};
pub use deadlines::Deadlines;
pub use decoder::Decoder;
pub use error::{Cause, Error, Phase, Refusal, Retry};
pub use fault::{Attempt, Fault};
pub use idle::Keep;
pub use ledger::Ledger;
pub use machine::{Machine, Prepared};
pub use open::Open;
pub use overrun::Overrun;
pub use owner::{Incoming, Rest, StreamName, Turn};
pub use stream::{Received, Stream};
pub use timing::{Marks, Opened};
#[cfg(feature = "tls")]
pub use tls_facts::TlsFacts;
pub use transport::{Listener, Socket, Transport};
pub use vacancy::{Ticket, Vacancy};
pub use version::{Speaks, Version};
pub use writer::{BodyWriter, Sent};

pub use alula_h1 as h1;
pub use alula_h2 as h2;
