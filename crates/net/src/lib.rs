//! The loops that move bytes between sockets and Alula's machines.
//!
//! For users there is nothing here: they see `alula`. A client opens a connection with [`Connect`], a server
//! takes requests from one with [`Conn::turn_of_server`]; both hold a [`Stream`] per request, read its
//! content through a [`Body`] and write through a [`BodyWriter`]. How the lock, the reading and the tasks
//! play together stands at the top of `drive/shared.rs`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod connection;
mod drive;
mod error;
mod establish;
mod few;
mod handle;
mod machine;
mod message;
#[cfg(feature = "tls")]
mod tls;
mod transport;

pub use connection::checks::idle::IdleObserver;
pub use connection::membership::News;
pub use connection::memory::heads::{keep_head, lend_head};
pub use connection::memory::ledger::Ledger;
pub use connection::stream::tally::Tally;
pub use connection::stream::{answer_notes::LeftNote, slot::Noted};
pub use drive::asked::Asked;
pub use drive::keep::Keep;
pub use drive::open_stream::Open;
pub use drive::orphaned::Left;
pub use drive::pool::{ConnectionPool, PoolBooks};
pub use drive::server_task::{Incoming, Requests, Rest, StreamName, Turn};
pub use drive::shared::{Conn, FrameObserver};
#[cfg(feature = "tls")]
pub use error::cause::PinMismatch;
pub use error::cause::{Cause, Refusal};
pub use error::details::{Attempt, Fault};
pub use error::limit::Overrun;
pub use error::occupied::Occupied;
pub use error::refused::Refused;
pub use error::{Error, Phase, Retry};
pub use establish::accept::Accept;
pub use establish::connect::{AtEnd, Connect};
pub use establish::version::{Speaks, Version};
#[cfg(feature = "stream")]
pub use handle::body::BodyStream;
pub use handle::body::{Body, gather};
pub use handle::deadlines::Deadlines;
pub use handle::encoding::Encoding;
pub use handle::respond::WholeAnswer;
pub use handle::stream::{Received, Stream, Written};
pub use handle::writer::{BodyWriter, HeldHead, Sent};
pub use machine::Machine;
pub use machine::prepared::{Prepared, check_request};
pub use message::decoder::Decoder;
pub use message::encoder::Encoder;
pub use message::timing::{Marks, Opened};
#[cfg(feature = "tls")]
pub use tls::facts::TlsFacts;
pub use transport::facts::TransportFacts;
pub use transport::nested::PromptTcp;
pub use transport::pipe::{PipeEnd, pipe};
pub use transport::wire::Wire;
pub use transport::{Listener, Socket, Transport, set_tcp_keep_alive, set_tcp_user_timeout};

pub use bytes::Bytes;

pub use alula_h1 as h1;
pub use alula_h2 as h2;
pub use message::date;
#[cfg(feature = "simulation")]
pub use transport::simulation;
