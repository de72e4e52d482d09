//! The hooks and layers that are ready, over real sockets and both versions, with hostile input.

mod access_log;
mod auth;
mod cors;
mod limits;
mod log_order;
mod metrics;
mod origin_guard;
mod proxies;
mod request_id;

use alula::Client;

use crate::support::serve_routes;

/// A client of each version.
fn clients() -> [Client; 2] {
    [false, true]
        .map(|http2| Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap())
}
