//! Alula's HTTP client.
//!
//! A [`Client`] keeps one HTTP/2 connection per origin and runs many requests on it at once; over HTTP/1.1 each request under
//! way has a connection of its own, which is used again. A request is a [`Call`]:
//! built step by step, sent with [`Call::send`], [`Call::send_body`] or [`Call::open`]. A request that is sent often
//! is worth a [`Prepared`]: checked and planned once, then sent with nothing but what changes.
//!
//! Files import downwards: the methods that send a call; the call and its parts; requests, prepared or built step by step; the
//! client; origins and their pools; the routes on which connections are opened; settings. Methods stand in the file of the highest
//! of these that they need, whatever the type is that they belong to.
#![forbid(unsafe_code)]

#[cfg(feature = "http")]
pub mod adapters;
mod additions;
#[cfg(feature = "tls")]
mod agreement;
mod auth;
mod bad_url;
mod beyond;
#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
mod call;
mod client;
mod connecting;
mod content;
#[cfg(feature = "cookies")]
mod cookies;
#[cfg_attr(not(feature = "decoding"), path = "undecoded.rs")]
mod decoding;
mod expectation;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod hole_values;
mod host;
mod interim;
mod location;
mod method_text;
mod observing;
mod opening;
mod origin;
mod origins;
mod parts;
mod path;
mod pending;
mod pool;
mod pools;
mod prepared;
mod progress;
mod queue_deadlines;
mod reading;
mod redirected;
mod redirects;
mod reference;
mod request;
mod response;
mod retries;
mod runtimes;
mod sending;
mod setback;
mod shown;
mod text;
mod time_limit;
mod timing;
#[cfg(feature = "tls")]
mod trust;
mod url_text;
mod user_agent;
mod watching;
mod zone;

#[cfg(feature = "stream")]
pub use alula_net::BodyStream;
#[cfg(feature = "tls")]
pub use alula_net::TlsFacts;
pub use alula_net::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Error, Fault, Ledger, Occupied, Overrun, Phase, Refusal,
    Retry, Sent, Transport, Version,
};
pub use builder::ClientBuilder;
pub use call::Call;
pub use client::Client;
pub use connecting::{Connector, Destination, Dialling, Proxy, Resolve, Resolving, SystemResolver};
pub use content::{Content, IntoPairs, Multipart, Part};
#[cfg(feature = "cookies")]
pub use cookies::{Jar, NetscapeImport, SkippedLine};
pub use location::check_url;
pub use method_text::IntoMethod;
pub use pending::PendingResponse;
pub use prepared::{Hole, Prepare, Prepared};
pub use reading::StatusError;
pub use redirects::{Follow, Redirect};
pub use response::Response;
pub use retries::Retries;
pub use setback::Setback;
pub use text::IntoText;
pub use timing::Timing;
pub use url_text::IntoUrl;
pub use watching::{ConnectionFacts, ExchangeEvent, ReceivedHead, SentHead};
