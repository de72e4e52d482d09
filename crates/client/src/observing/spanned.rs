//! A span for each call, and events for connections.

use alula_net::Conn;
use tracing::{
    Span, debug,
    field::{self, Empty},
    info_span,
};

use super::word_of;
use crate::{Call, Error, Response, Version, opening::Outcome, origin::Origin};

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
            span.record("network.protocol.version", number(response.version()));
            span.record("http.response.status_code", response.status().as_u16());
        }
        Err(error) => {
            span.record("error.type", word_of(error.phase()));
            span.in_scope(|| debug!(target: "alula", %error, "request failed"));
        }
    }
}

pub(super) fn opened(outcome: &Outcome) {
    match outcome {
        Ok(conn) => tell(conn, "connection opened"),
        Err(error) => {
            debug!(target: "alula", { "error.type" = word_of(error.phase()), %error }, "connection failed");
        }
    }
}

pub(super) fn closed(conn: &Conn) {
    tell(conn, "connection closed");
}

fn tell(conn: &Conn, what: &str) {
    let (peer, version) = (conn.peer(), number(conn.version()));
    debug!(
        target: "alula",
        { network.peer.address = peer.map(field::display), network.protocol.version = version },
        "{what}"
    );
}

fn number(version: Version) -> &'static str {
    match version {
        Version::Http1 => "1.1",
        Version::Http2 => "2",
    }
}

/// Host and port of an origin; IPv6 without brackets.
fn server_of(origin: &Origin) -> (&str, u16) {
    let default = if origin.scheme == "https" { 443 } else { 80 };
    let (host, port) = match origin.authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(default)),
        _ => (&*origin.authority, default),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}
