//! Routers: which handler answers a request, by host, path and method.
//!
//! A [`Router`] is a list of what was asked for; [`Router::build`] checks it and compiles it into [`Routes`], which a server serves.

mod answers;
mod app;
mod builder;
mod compile;
#[cfg(feature = "decoding")]
mod decoding;
mod dispatch;
mod entry;
mod filter;
mod hook;
mod layers;
mod methods;
mod param_error;
mod params;
mod routes;
mod scopes;
mod site;
mod state;
mod wrap;

pub(crate) use app::App;
pub use builder::Router;
pub(crate) use entry::Filters;
pub(crate) use filter::forget_content;
pub use filter::{Filter, Outgoing};
pub use hook::{Begun, Ended, Hook};
pub use methods::{Route, any, delete, get, head, on, options, patch, post, put};
pub use param_error::ParamError;
pub use routes::Routes;
pub use state::State;
pub use wrap::{Next, Wrap};
