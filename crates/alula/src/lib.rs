//! An HTTP stack, client and server, in which a request costs its bytes and its system calls and next to nothing
//! else: no heap allocation per request once warm.
//!
//! A client:
//!
//! ```no_run
//! # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
//! let client = alula::Client::new()?;
//! let mut response = client.get("https://example.com/").send().await?;
//! while let Some(chunk) = response.body().chunk().await? {
//!     println!("{} octets", chunk.len());
//! }
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
//! let hello = |exchange: Exchange| exchange.respond(Status::OK).send(b"Hello, World!");
//! Server::bind("127.0.0.1:8080").await?.serve(hello).await?;
//! # Ok(())
//! # }
//! ```
//!
//! It speaks HTTP/2, over TLS and in clear text with prior knowledge (RFC 9113 §3.3); HTTP/1.1 is not there yet.
//! Who wants a connection without runtime or socket finds the machines in [`h2`] and [`hpack`].
#![forbid(unsafe_code)]

pub use alula_fields as fields;
pub use alula_fields::{FieldError, FieldName, FieldSection, KnownName, Limits, Method, Status};
pub use alula_h2 as h2;
pub use alula_hpack as hpack;

#[cfg(feature = "client")]
pub use alula_client::{Call, Client, ClientBuilder, Hole, PendingResponse, Prepare, Prepared, Response};
#[cfg(feature = "tls")]
#[cfg(feature = "server")]
pub use alula_server::Identity;
#[cfg(feature = "server")]
pub use alula_server::{Exchange, Handler, Reply, Request, Responder, Server, ServerBuilder, Stop};

#[cfg(feature = "client")]
pub use alula_client::{Body, BodyWriter, Cause, Error, Ledger, Overrun, Phase, Retry, Sent};
#[cfg(all(feature = "server", not(feature = "client")))]
pub use alula_server::{Body, BodyWriter, Cause, Error, Ledger, Overrun, Phase, Retry, Sent};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
