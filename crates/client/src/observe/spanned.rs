//! A span for each call.

use alula_net::Error;
use tracing::{Span, debug, field::Empty, info_span};

use super::words::{number_of, word_of};
use crate::{pool::origin::Origin, request::call::Call, response::Response};

/// The span of a call. Its last three fields are known when it ends.
pub(super) fn span(call: &Call<'_>) -> Span {
    let method = call.request.method();
    let origin = call.request.origin().ok();
    let (address, port) = origin.map(|origin| server_of(origin)).unzip();
    info_span!(
        target: "alula",
        "request",
        otel.kind = "client",
        http.request.method = method,
        url.scheme = origin.map(|origin| origin.scheme),
        server.address = address,
        server.port = port,
        network.protocol.version = Empty,
        http.response.status_code = Empty,
        "error.type" = Empty,
    )
}

pub(super) fn end(span: &Span, outcome: Result<&Response, &Error>) {
    match outcome {
        Ok(response) => {
            span.record("network.protocol.version", number_of(response.version()));
            span.record("http.response.status_code", response.status().as_u16());
        }
        Err(error) => {
            span.record("error.type", word_of(error.phase()));
            span.in_scope(|| debug!(target: "alula", %error, "request failed"));
        }
    }
}

/// Host and port of an origin; IPv6 without brackets.
fn server_of(origin: &Origin) -> (&str, u16) {
    let default = if origin.scheme == "https" { 443 } else { 80 };
    let (host, port) = match origin.authority().rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(default)),
        _ => (origin.authority(), default),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}
