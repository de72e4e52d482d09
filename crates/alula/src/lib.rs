//! An HTTP stack, client and server, in which a request costs its bytes and its system calls and next to
//! nothing else: a plain or prepared request and its answer make no heap allocation once their connection is
//! warm, routed or not, split or not. More than 256 requests in flight of a client do.
//!
//! A client:
//!
//! ```no_run
//! # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
//! let client = alula::Client::new()?;
//! let mut response = client.get("https://example.com/").send().await?;
//! println!("{}: {}", response.status(), response.text().await?);
//! # Ok(())
//! # }
//! ```
//!
//! A server (feature `server`):
//!
//! ```no_run
//! # #[cfg(feature = "server")]
//! # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
//! use alula::{Exchange, Server, Status};
//!
//! let hello = |exchange: Exchange| exchange.respond(Status::OK).send("Hello, World!");
//! Server::bind("127.0.0.1:8080").await?.serve(hello).await?;
//! # Ok(())
//! # }
//! ```
//!
//! It speaks HTTP/1.1 and HTTP/2, over TLS as the two sides agree, in clear text HTTP/1.1 unless a client
//! knows better. The machines without runtime or socket are in [`h1`], [`h2`] and [`hpack`]; [`machine`] is
//! the contract that they keep.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub use alula_fields as fields;
pub use alula_fields::{
    FieldError, FieldName, FieldSection, KnownName, MaskedTarget, Method, Status, masked_field,
    masked_target, masked_url,
};
pub use alula_h1 as h1;
pub use alula_h2 as h2;
pub use alula_hpack as hpack;
pub use alula_machine as machine;
pub use alula_machine::{Exceeded, Limits, Reservation};

#[cfg(all(feature = "client", feature = "tls"))]
pub use alula_client::TlsFacts;
#[cfg(all(feature = "client", feature = "http"))]
pub use alula_client::adapters;
#[cfg(feature = "blocking")]
pub use alula_client::blocking;
#[cfg(feature = "client")]
pub use alula_client::{
    Call, Client, ClientBuilder, ConnectionFacts, Connector, Content, Destination, Dialling, ExchangeEvent,
    Follow, Hole, IntoMethod, IntoPairs, IntoText, IntoUrl, Multipart, Observer, Part, PendingResponse,
    Prepare, Prepared, Proxy, ReceivedHead, Redirect, Resolve, Resolving, Response, Retries, SentHead,
    Setback, StatusError, SystemResolver, Timing, Transport, check_url,
};
#[cfg(all(feature = "client", feature = "cookies"))]
pub use alula_client::{Jar, NetscapeImport, SkippedLine};
#[cfg(feature = "tls")]
#[cfg(feature = "server")]
pub use alula_server::Identity;
#[cfg(all(feature = "query", feature = "server"))]
pub use alula_server::QueryError;
#[cfg(all(feature = "server", feature = "tls", not(feature = "client")))]
pub use alula_server::TlsFacts;
#[cfg(feature = "server")]
pub use alula_server::{
    AccessLog, BasicAuth, BearerAuth, ConcurrencyLimit, Cors, Health, LogFormat, Metrics, OriginGuard,
    RateLimit, RequestId,
};
#[cfg(all(feature = "server", feature = "tower"))]
pub use alula_server::{AllowSlowPeer, PeerAddress, from_tower};
#[cfg(feature = "server")]
pub use alula_server::{
    Answer, Begun, ClientAddressField, ConnectionServer, DotSegments, EmptySegments, EncodedSlash, Encoder,
    Ended, Exchange, FailureCause, Filter, Handler, Hook, IntoAnswer, IntoService, MultipartLimits,
    MultipartReader, Next, Outgoing, ParamError, PlusSign, ReceivedPart, Reply, Request, RequestFailure,
    Responder, Route, RouteError, Router, Routes, Segments, Server, ServerBuilder, State, Stop,
    TrailingSlash, TransportFacts, Wrap, routing,
};
#[cfg(feature = "files")]
pub use alula_server::{EntityTags, files};
#[cfg(feature = "server")]
pub use alula_server::{Event, EventStream, Scratch, conditional};

#[cfg(feature = "client")]
pub use alula_client::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Error, Fault, Ledger, Occupied, Overrun, Phase, Refusal,
    Retry, Sent, Version,
};
#[cfg(all(feature = "server", not(feature = "client")))]
pub use alula_server::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Error, Fault, Ledger, Occupied, Overrun, Phase, Refusal,
    Retry, Sent, Transport, Version,
};

#[cfg(all(feature = "client", feature = "stream"))]
pub use alula_client::BodyStream;
#[cfg(all(feature = "server", feature = "stream", not(feature = "client")))]
pub use alula_server::BodyStream;

#[cfg(all(feature = "client", feature = "server"))]
pub mod testing;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples for those who use axum.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/axum.md")]
struct Axum;

/// The examples of the page about tests.
#[cfg(all(doctest, feature = "client", feature = "server"))]
#[doc = include_str!("../../../docs/testing.md")]
struct Testing;
