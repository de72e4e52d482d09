//! An object store that speaks Riak's HTTP API, on Alula.
//!
//! The crate begins with its [`model`]: objects, their siblings and what writes do to them, as pure functions over octets. The
//! resources and the engines stand on it.
#![forbid(unsafe_code)]

pub mod model;
