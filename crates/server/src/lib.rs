//! Alula's HTTP server.
//!
//! A [`Server`] listens; each request becomes an [`Exchange`] for a [`Handler`], which is any `Fn(Exchange)
//! -> Future`. Handlers of one connection run in its task, in slots that are used again: a request costs no
//! box and no task.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod adapters;
mod answer;
pub mod conditional;
mod connection;
mod exchange;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod listen;
mod observe;
mod ready;
mod route;
mod router;

#[cfg(feature = "tower")]
pub use adapters::tower::{AllowSlowPeer, PeerAddress, from_tower};
#[cfg(feature = "stream")]
pub use alula_net::BodyStream;
#[cfg(feature = "tls")]
pub use alula_net::TlsFacts;
pub use alula_net::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Encoder, Error, Fault, Ledger, Occupied, Overrun, Phase,
    PipeEnd, Refusal, Retry, Sent, Transport, TransportFacts, Version, Wire, pipe,
};
pub use answer::{Answer, IntoAnswer};
pub use connection::endpoint::{IntoService, Service};
pub use connection::handler::Handler;
pub use connection::scratch::Scratch;
pub use exchange::Exchange;
pub use exchange::forwarded::ClientAddressField;
pub use exchange::multipart::{MultipartLimits, MultipartReader, ReceivedPart};
#[cfg(feature = "query")]
pub use exchange::query::QueryError;
pub use exchange::reply::{Event, EventStream, Reply};
pub use exchange::request::Request;
pub use exchange::responder::Responder;
pub use listen::connection_server::ConnectionServer;
#[cfg(feature = "tls")]
pub use listen::identity::Identity;
pub use listen::server::{Server, ServerBuilder, Stop};
pub use observe::failure::{FailureCause, RequestFailure};
#[cfg(feature = "files")]
pub use ready::EntityTags;
pub use ready::{
    AccessLog, BasicAuth, BearerAuth, ConcurrencyLimit, Cors, Health, LogFormat, Metrics, OriginGuard,
    RateLimit, RequestId,
};
pub use route::{DotSegments, EmptySegments, EncodedSlash, PlusSign, RouteError, Segments, TrailingSlash};
pub use router::{
    Begun, Ended, Filter, Hook, Next, Outgoing, ParamError, Route, Router, Routes, State, Wrap,
};

/// Routes by method: `get(read).put(store)`.
pub mod routing {
    pub use crate::router::{any, delete, get, head, on, options, patch, post, put};
}
