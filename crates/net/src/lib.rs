//! The loops that move bytes between sockets and Alula's machines.
//!
//! For users there is nothing here: they see `alula`. A client opens a connection with [`Connect`], a server takes
//! requests from one with [`Conn::turn_of_server`]; both hold a [`Stream`] per request, read its content through a
//! [`Body`] and write through a [`BodyWriter`]. How the lock, the reading and the tasks play together stands at the
//! top of `conn.rs`.
#![forbid(unsafe_code)]

mod accept;
mod answering;
mod asked;
mod asking;
mod body;
mod boxed;
mod breach;
mod cause;
mod cause_shown;
mod conn;
mod connect;
mod connection;
mod connection_pool;
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
mod few;
mod hand_over;
#[cfg(feature = "tls")]
mod handshake;
mod happened;
mod heads;
mod io_error;
mod kit;
mod ledger;
mod left;
mod lending;
mod link;
mod machine;
mod memory;
#[cfg(feature = "simulation")]
mod network;
mod occupied;
mod open;
mod opening;
mod overrun;
mod owner;
mod pipe;
mod prepared;
mod prompt;
mod read_buf;
mod receiving;
mod refused;
mod resting;
mod reuse;
mod sendfile;
mod sending;
mod sentence;
mod shown;
#[cfg(feature = "simulation")]
pub mod simulation;
mod standby;
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
mod turn;
mod version;
mod wakes;
mod watching;
mod wire;
mod writer;
mod writing;

pub use accept::Accept;
pub use answering::WholeAnswer;
pub use asked::Asked;
#[cfg(feature = "stream")]
pub use body::BodyStream;
pub use body::{Body, gather};
#[cfg(feature = "tls")]
pub use cause::PinMismatch;
pub use cause::{Cause, Refusal};
pub use conn::{Conn, FrameObserver};
pub use connect::{AtEnd, Connect};
pub use connection::idleness::IdleObserver;
pub use connection::membership::News;
pub use connection::{answer_notes::LeftNote, slot::Noted};
pub use connection_pool::{ConnectionPool, PoolBooks};
pub use deadlines::Deadlines;
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use encoding::Encoding;
pub use error::{Error, Phase, Retry};
pub use fault::{Attempt, Fault};
pub use heads::{keep_head, lend_head};
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
pub use stream::{Received, Stream, Written};
pub use tally::Tally;
pub use timing::{Marks, Opened};
#[cfg(feature = "tls")]
pub use tls_facts::TlsFacts;
pub use transport::{Listener, Socket, Transport, set_tcp_keep_alive, set_tcp_user_timeout};
pub use transport_facts::TransportFacts;
pub use version::{Speaks, Version};
pub use watching::Keep;
pub use wire::Wire;
pub use writer::{BodyWriter, HeldHead, Sent};

pub use bytes::Bytes;

pub use alula_h1 as h1;
pub use alula_h2 as h2;
