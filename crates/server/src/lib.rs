//! Alula's HTTP server.
//!
//! A [`Server`] listens; each request becomes an [`Exchange`] for a [`Handler`], which is any
//! `Fn(Exchange) -> Future`. Handlers of one connection run in its task, in slots that are used again: a request
//! costs no box and no task.
#![forbid(unsafe_code)]

mod accepting;
mod connections;
mod date;
mod descriptors;
mod exchange;
mod failure;
mod handler;
#[cfg(feature = "tls")]
mod identity;
mod observing;
mod reply;
mod reporting;
mod scheme;
mod serve;
mod server;
mod shown;
mod slots;
#[cfg(feature = "tower")]
mod tower;

#[cfg(feature = "tls")]
pub use alula_net::TlsFacts;
pub use alula_net::{
    Asked, Attempt, Body, BodyWriter, Cause, Error, Fault, Ledger, Overrun, Phase, Refusal, Retry, Sent,
    Version,
};
pub use exchange::{Exchange, Request};
pub use failure::{FailureCause, RequestFailure};
pub use handler::Handler;
#[cfg(feature = "tls")]
pub use identity::Identity;
pub use reply::{Reply, Responder};
pub use server::{Server, ServerBuilder, Stop};
#[cfg(feature = "tower")]
pub use tower::{AllowSlowPeer, PeerAddress, RequestContent, from_tower};
