//! The client with the types of the crates `http`, `http-body` and `tower`.
//!
//! [`Client::execute`](crate::Client::execute) takes an [`http::Request`] and gives an [`http::Response`]; with the feature `tower`
//! a [`Client`](crate::Client) is a `tower_service::Service` that does the same.
//!
//! These types cost what Alula does without. On top of a call of Alula's own, which allocates nothing, a
//! request allocates once for its URL and once more if it has content that is not short; a response allocates
//! twice for its map of fields, once for each value and each name that is not well known, and for each piece
//! of content as [`Body`](crate::Body) says; a call through `tower` once more.
//! `crates/alula/tests/alloc/adapters.rs` holds the sum. Requests and their fields are the caller's to
//! pay for.

mod content;
mod error;
mod execute;
mod gather;
#[cfg(feature = "tower")]
mod service;
mod upload;

pub use content::ResponseContent;
pub use error::ExecuteError;
