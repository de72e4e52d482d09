//! The built-in handlers of a router.

use alula_fields::Status;
use alula_net::Sent;

use super::build::site::Site;
use crate::{
    answer::{Answer, IntoAnswer as _},
    exchange::Exchange,
    route::{Outcome, Refused},
};

/// Answers 404 to a path without a route.
pub(super) async fn not_found<S>(_: Exchange<S>) -> Result<Sent, Answer> {
    Err(Status::NOT_FOUND.into_answer())
}

/// Answers 405 to a method that the path has no handler for, with `allow` (RFC 9110 §15.5.6).
pub(super) async fn not_allowed<S>(exchange: Exchange<S>) -> Result<Sent, Answer> {
    Err(Answer::new(Status::METHOD_NOT_ALLOWED).header("allow", exchange.allowed()))
}

/// Answers 413 to a request with more content than its route accepts.
pub(super) async fn too_long<S>(_: Exchange<S>) -> Result<Sent, Answer> {
    Err(Answer::new(Status::CONTENT_TOO_LARGE).detail("the content is longer than this path takes"))
}

/// Answers 501 to an unknown method.
pub(super) async fn unknown_method<S>(_: Exchange<S>) -> Result<Sent, Answer> {
    Err(Status::NOT_IMPLEMENTED.into_answer())
}

/// Answers 400 to an invalid path, with the reason.
pub(super) async fn malformed<S>(exchange: Exchange<S>) -> Result<Sent, Answer> {
    Err(Answer::new(Status::BAD_REQUEST).detail(match refused(&exchange) {
        Some(Refused::EmptySegment) => "the path has an empty segment",
        Some(Refused::EncodedSlash) => "the path has an encoded slash",
        Some(Refused::DotSegment) => "the path has a dot segment",
        None => "the path has segments that are not taken here",
    }))
}

fn refused<S>(exchange: &Exchange<S>) -> Option<Refused> {
    let site = exchange.app()?.routes.site(|| exchange.request().authority())?;
    match site.table.find(exchange.request().path_alone()) {
        Outcome::Refused(refused, _) => Some(refused),
        _ => None,
    }
}

/// Redirects to the same path with its trailing slash changed (RFC 9110 §15.4.9).
pub(super) async fn other_slash<S>(exchange: Exchange<S>) -> Result<Sent, Answer> {
    let site = exchange.app().and_then(|app| app.routes.site(|| exchange.request().authority()));
    match site.and_then(|site| location(&exchange, site)) {
        Some(location) => Err(Answer::new(Status::PERMANENT_REDIRECT).header("location", location)),
        None => Err(Status::NOT_FOUND.into_answer()),
    }
}

fn location<S>(exchange: &Exchange<S>, site: &Site) -> Option<Vec<u8>> {
    let (path, query) = (exchange.request().path_alone(), exchange.request().query());
    match site.table.find(path) {
        Outcome::Redirect(change, found) => {
            Some(change.location(path, query.map(str::as_bytes), found.options))
        }
        _ => None,
    }
}
