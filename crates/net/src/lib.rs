//! The loops that move bytes between sockets and Alula's machines.
//!
//! For users there is nothing here: they see `alula`. A client opens a connection with [`Connect`], a server takes
//! requests from one with [`Conn::turn_of_server`]; both hold a [`Stream`] per request, read its content through a
//! [`Body`] and write through a [`BodyWriter`]. How the lock, the reading and the tasks play together stands at the
//! top of `conn.rs`.
#![forbid(unsafe_code)]

mod accept;
mod asked;
mod body;
mod boxed;
mod breach;
mod cause;
mod claim;
mod conn;
mod connect;
mod content;
pub mod date;
mod deadlines;
mod decoder;
mod encoder;
mod encoding;
mod error;
#[cfg(all(test, feature = "tls"))]
mod error_table;
mod fault;
mod feeding;
mod few;
mod hand_over;
#[cfg(feature = "tls")]
mod handshake;
mod happened;
mod heads;
mod idle;
mod input;
mod io_error;
mod ledger;
mod left;
mod lending;
mod link;
mod machine;
mod memory;
mod occupied;
mod open;
mod overrun;
mod owner;
mod pace;
mod pipe;
mod prepared;
mod prompt;
mod read_buf;
mod refused;
mod reuse;
mod room;
mod sentence;
mod shared;
mod shown;
#[cfg(feature = "simulation")]
pub mod simulation;
mod slot;
mod standby;
mod starving;
mod stream;
mod tallies;
mod tally;
mod timing;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_facts;
#[cfg(feature = "tls")]
mod tls_words;
mod transport;
mod transport_facts;
mod vacancy;
mod version;
mod wakes;
mod wire;
mod writer;

pub use accept::Accept;
pub use asked::Asked;
#[cfg(feature = "stream")]
pub use body::BodyStream;
pub use body::{Body, gather};
pub use cause::{Cause, Refusal};
pub use conn::{Conn, FrameObserver};
pub use connect::{AtEnd, Connect};
pub use deadlines::Deadlines;
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use encoding::Encoding;
pub use error::{Error, Phase, Retry};
pub use fault::{Attempt, Fault};
pub use heads::{keep_head, lend_head};
pub use idle::{IdleObserver, Keep};
pub use ledger::Ledger;
pub use left::Left;
pub use machine::Machine;
pub use occupied::Occupied;
pub use open::Open;
pub use overrun::Overrun;
pub use owner::{Incoming, Requests, Rest, StreamName, Turn};
pub use pipe::{PipeEnd, pipe};
pub use prepared::{Prepared, check_request};
pub use prompt::PromptTcp;
pub use refused::Refused;
pub use slot::{LeftNote, Noted};
pub use stream::{Received, Stream};
pub use tally::Tally;
pub use timing::{Marks, Opened};
#[cfg(feature = "tls")]
pub use tls_facts::TlsFacts;
pub use transport::{Listener, Socket, Transport, set_tcp_keep_alive};
pub use transport_facts::TransportFacts;
pub use vacancy::{Ticket, Vacancy};
pub use version::{Speaks, Version};
pub use wire::Wire;
pub use writer::{BodyWriter, Sent};

pub use bytes::Bytes;

pub use alula_h1 as h1;
pub use alula_h2 as h2;
