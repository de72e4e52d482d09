//! Paths that are no resource, and methods that a resource does not have.

use alula::{Exchange, Status};

use super::fail::{Fail, Outcome};
use crate::engine::Engine;
use crate::store::Store;

/// Answers 404 to a path that is no resource.
pub(in crate::http) async fn no_route<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::Page(Status::NOT_FOUND))
}

/// The methods that Riak knows. Others are 501 wherever they are asked for.
const KNOWN: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS"];

/// Answers a request whose method the resource does not have.
pub(in crate::http) async fn other_method<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    if !KNOWN.contains(&exchange.request().method()) {
        return Err(Fail::Page(Status::NOT_IMPLEMENTED));
    }
    // Counters alone have no HEAD beside their GET.
    let is_counter = exchange.route().is_some_and(|route| route.contains("/counters/"));
    let allowed = if is_counter { "GET, POST" } else { exchange.allowed() };
    Err(Fail::Method(allowed.to_owned()))
}
