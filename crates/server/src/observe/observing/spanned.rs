//! A span for each request, and events for failures and connections.

use std::net::SocketAddr;

use alula_fields::{Head, Status};
use alula_net::{Conn, Error, Fault, Version};
use tracing::{
    Level, Span, debug, error,
    field::{Empty, display},
    info_span, warn,
};

use crate::{
    connection::slow_turns::SlowTurnsTold,
    observe::{
        failure::{FailureCause, RequestFailure},
        reporting::Reporter,
    },
};

/// Returns the span of a request, whose last two fields are known later. The query may hold secrets and is
/// left out.
pub(super) fn request(head: &Head, reporter: &Reporter) -> Span {
    let path = head.path().map(|path| path.split_once('?').map_or(path, |(path, _)| path));
    info_span!(
        target: "alula",
        "request",
        otel.kind = "server",
        http.request.method = head.method(),
        url.path = path,
        url.scheme = head.scheme(),
        client.address = display(reporter.peer().ip()),
        client.port = reporter.peer().port(),
        network.protocol.version = number(reporter.version()),
        http.response.status_code = Empty,
        "error.type" = Empty,
    )
}

pub(super) fn answered(span: &Span, status: Status) {
    span.record("http.response.status_code", status.as_u16());
}

/// Reports a failure: as an error if this program is at fault, otherwise at the debug level.
pub(super) fn failed(span: &Span, failure: &RequestFailure<'_>) {
    let kind = match failure.cause() {
        FailureCause::Panic(_) => "panic",
        FailureCause::Accept(_) => "accept",
        FailureCause::Error(_) if failure.fault() == Fault::Caller => "handler",
        FailureCause::Error(_) | FailureCause::Refused(_) => "peer",
    };
    span.record("error.type", kind);
    span.in_scope(|| match failure.fault() {
        Fault::Caller => error!(target: "alula", { "error.type" = kind, error = %failure }, "request failed"),
        _ => debug!(target: "alula", { "error.type" = kind, error = %failure }, "request failed"),
    });
}

pub(super) fn hears_failures() -> bool {
    tracing::enabled!(target: "alula", Level::ERROR)
}

pub(super) fn hears_warnings() -> bool {
    tracing::enabled!(target: "alula", Level::WARN)
}

pub(super) fn slow_turns(slow: &SlowTurnsTold<'_>) {
    let took = slow.took.as_millis() as u64;
    warn!(target: "alula", { http.route = slow.route, turn.duration_ms = took }, "{slow}");
}

pub(super) fn refused(peer: SocketAddr, error: &Error) {
    debug!(target: "alula", { network.peer.address = %peer, %error }, "connection not accepted");
}

/// The facts of a connection that are reported at its beginning and its end.
pub(super) struct ConnectionFacts {
    peer: Option<SocketAddr>,
    version: Version,
}

impl ConnectionFacts {
    pub(super) fn begin(conn: &Conn) -> Self {
        let facts = Self { peer: conn.peer(), version: conn.version() };
        facts.tell("connection accepted");
        facts
    }

    fn tell(&self, what: &str) {
        let (peer, version) = (self.peer.map(display), number(self.version));
        debug!(target: "alula", { network.peer.address = peer, network.protocol.version = version }, "{what}");
    }
}

impl Drop for ConnectionFacts {
    fn drop(&mut self) {
        self.tell("connection closed");
    }
}

const fn number(version: Version) -> &'static str {
    match version {
        Version::Http1 => "1.1",
        Version::Http2 => "2",
    }
}
