//! Routers, which choose the handler of a request by host, path and method.
//!
//! A [`Router`] is a list of what was asked for; [`Router::build`] checks it and compiles it into [`Routes`],
//! which a server serves.

mod answers;
mod app;
pub(crate) mod build;
#[cfg(feature = "decoding")]
mod decoding;
mod dispatch;
mod entry;
mod filter;
mod hook;
mod layers;
mod param_error;
mod params;
mod routes;
mod state;
mod wrap;

pub(crate) use app::App;
pub use build::builder::Router;
pub use build::methods::{Route, any, delete, get, head, on, options, patch, post, put};
pub(crate) use entry::Filters;
pub(crate) use filter::forget_content;
pub use filter::{Filter, Outgoing};
pub use hook::{Begun, Ended, Hook};
pub use param_error::ParamError;
pub use routes::Routes;
pub use state::State;
pub use wrap::{Next, Wrap};
