//! An object store that speaks Riak's HTTP API, on Alula.
//!
//! A [`Store`] is an engine with the properties of its buckets; [`Store::routes`] are what a server answers
//! by.
//!
//! - [`model`]: objects, their siblings and what writes do to them, as pure functions over bytes.
//! - [`engine`]: what keeps them, in memory or on disk.
//! - [`access`]: users, and what each of them may do.
//! - `http`: the resources, one file for each.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod access;
mod budget;
pub mod config;
pub mod engine;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod limits;
mod long_steps;
pub mod model;
mod properties;
mod reaper;
mod routes;
mod searches;
mod statistics;
mod store;

pub use config::{Config, Referers};
pub use http::starting;
pub use limits::limits;
pub use properties::PropertyError;
pub use store::{OpenError, Store};
