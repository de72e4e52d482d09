//! A span for each call.

use tracing::{Instrument as _, Span, debug, field::Empty, info_span};

use super::{
    event::ExchangeEvent,
    observer::Observer,
    words::{number_of, word_of},
};
use crate::{pool::origin::Origin, request::call::Call};

/// The span of a call.
pub(super) struct Request(Span);

impl Request {
    pub(super) fn begin(call: &Call<'_>) -> Self {
        Self(span(call))
    }

    /// Runs work within the span.
    pub(super) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }
}

impl Observer for Request {
    fn event(&self, event: &ExchangeEvent<'_>) {
        let Self(span) = self;
        match event {
            ExchangeEvent::Answered(response) => {
                span.record("network.protocol.version", number_of(response.version()));
                span.record("http.response.status_code", response.status().as_u16());
            }
            ExchangeEvent::Failed(error) => {
                span.record("error.type", word_of(error.phase()));
                span.in_scope(|| debug!(target: "alula", %error, "request failed"));
            }
            _ => {}
        }
    }
}

/// Returns the span of a call. Its last three fields are known when it ends.
fn span(call: &Call<'_>) -> Span {
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

/// Host and port of an origin; IPv6 without brackets.
fn server_of(origin: &Origin) -> (&str, u16) {
    let default = if origin.scheme == "https" { 443 } else { 80 };
    let (host, port) = match origin.authority().rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(default)),
        _ => (origin.authority(), default),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}
