//! Alula's HTTP server.
//!
//! A [`Server`] listens; each request becomes an [`Exchange`] for a [`Handler`], which is any
//! `Fn(Exchange) -> Future`. Handlers of one connection run in its task, in slots that are used again: a request
//! costs no box and no task.
#![forbid(unsafe_code)]

mod accept;
mod accepting;
mod answer;
pub mod conditional;
mod connection_server;
mod connections;
mod descriptors;
mod ended;
mod endpoint;
mod exchange;
mod failure;
#[cfg(feature = "files")]
pub mod files;
mod forwarded;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod handler;
#[cfg(feature = "tls")]
mod identity;
#[cfg(feature = "json")]
mod json_content;
mod late;
mod observing;
#[cfg(feature = "query")]
mod query;
mod ready;
mod reply;
mod reporting;
mod request;
mod responder;
mod route;
mod router;
mod scheme;
mod scratch;
mod serve;
mod server;
mod shown;
mod slots;
mod slow_turns;
mod spawned;
#[cfg(feature = "tower")]
mod tower;
mod work;

#[cfg(feature = "stream")]
pub use alula_net::BodyStream;
#[cfg(feature = "tls")]
pub use alula_net::TlsFacts;
pub use alula_net::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Encoder, Error, Fault, Ledger, Occupied, Overrun, Phase,
    PipeEnd, Refusal, Retry, Sent, Transport, TransportFacts, Version, Wire, pipe,
};
pub use answer::{Answer, IntoAnswer};
pub use connection_server::ConnectionServer;
pub use endpoint::{IntoService, Service};
pub use exchange::Exchange;
pub use failure::{FailureCause, RequestFailure};
pub use forwarded::ClientAddressField;
pub use handler::Handler;
#[cfg(feature = "tls")]
pub use identity::Identity;
#[cfg(feature = "query")]
pub use query::QueryError;
#[cfg(feature = "files")]
pub use ready::EntityTags;
pub use ready::{
    AccessLog, BasicAuth, BearerAuth, ConcurrencyLimit, Cors, Health, LogFormat, Metrics, OriginGuard,
    RateLimit, RequestId,
};
pub use reply::{Event, EventStream, Reply};
pub use request::Request;
pub use responder::Responder;
pub use route::{DotSegments, EmptySegments, EncodedSlash, PlusSign, RouteError, Segments, TrailingSlash};
pub use router::{
    Begun, Ended, Filter, Hook, Next, Outgoing, ParamError, Route, Router, Routes, State, Wrap,
};
pub use scratch::Scratch;
pub use server::{Server, ServerBuilder, Stop};
#[cfg(feature = "tower")]
pub use tower::{AllowSlowPeer, PeerAddress, from_tower};

/// Routes by method: `get(read).put(store)`.
pub mod routing {
    pub use crate::router::{any, delete, get, head, on, options, patch, post, put};
}
