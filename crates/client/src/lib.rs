//! Alula's HTTP client.
//!
//! A [`Client`] keeps one HTTP/2 connection per origin and runs many requests on it at once; over HTTP/1.1
//! each request under way has a connection of its own, which is used again. A request is a [`Call`]: built
//! step by step, sent with [`Call::send`], [`Call::send_body`] or [`Call::open`]. A request that is sent
//! often is worth a [`Prepared`]: checked and planned once, then sent with nothing but what changes.
//!
//! Files import downwards: the call and the client; the functions that send a call, and those that follow
//! where its response leads; requests, prepared or built step by step; origins and their pools; the routes on
//! which connections are opened; settings. A method stands in the folder of its type.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// Has the `Debug` of types that may hold credentials show their names alone.
macro_rules! opaque {
    ($($name:ty: $shown:literal;)*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($shown).finish_non_exhaustive()
            }
        }
    )*};
}

#[cfg(feature = "http")]
pub mod adapters;
#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
mod client;
mod connecting;
#[cfg(feature = "cookies")]
mod cookies;
pub(crate) mod follow;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub(crate) mod observe;
mod pool;
mod request;
mod response;
pub(crate) mod send;
mod tls;
mod url;

#[cfg(feature = "stream")]
pub use alula_net::BodyStream;
#[cfg(feature = "tls")]
pub use alula_net::TlsFacts;
pub use alula_net::{
    Asked, Attempt, Body, BodyWriter, Bytes, Cause, Error, Fault, Ledger, Occupied, Overrun, Phase, Refusal,
    Retry, Sent, Transport, Version,
};
pub use builder::ClientBuilder;
pub use client::Client;
pub use connecting::{Connector, Destination, Dialling, Proxy, Resolve, Resolving, SystemResolver};
#[cfg(feature = "cookies")]
pub use cookies::{Jar, NetscapeImport, SkippedLine};
pub use follow::outcome::Setback;
pub use follow::redirects::{Follow, Redirect};
pub use follow::retries::Retries;
pub use observe::event::{ConnectionFacts, ExchangeEvent, ReceivedHead, SentHead};
pub use observe::observer::Observer;
pub use request::call::Call;
pub use request::content::{Content, IntoPairs, Multipart, Part};
pub use request::method_text::IntoMethod;
pub use request::prepared::{Hole, Prepare, Prepared};
pub use response::Response;
pub use response::reading::StatusError;
pub use response::timing::Timing;
pub use send::pending::PendingResponse;
pub use url::location::check_url;
pub use url::text::IntoText;
pub use url::url_text::IntoUrl;
