//! Reports requests and connections to `tracing` (feature `tracing`).
//!
//! Without the feature a [`RequestSpan`] is empty and does nothing. With the feature and without a subscriber
//! nothing is allocated. Names are those of OpenTelemetry's conventions for HTTP where it has one; the client
//! uses the same names.

use alula_fields::{Head, Status};
use alula_net::{Conn, Error};

use crate::{
    connection::slow_turns::SlowTurnsTold,
    observe::{failure::RequestFailure, reporting::Reporter},
};

#[cfg(feature = "tracing")]
mod spanned;

/// The span of a request, from its arrival to the end of its handler.
#[derive(Clone)]
pub(crate) struct RequestSpan {
    /// The span, if a subscriber takes it; shared, so that an exchange stays small.
    #[cfg(feature = "tracing")]
    span: Option<std::sync::Arc<tracing::Span>>,
}

/// A connection that was accepted. Dropping it tells that it has ended.
pub(crate) struct ConnectionSpan {
    #[cfg(feature = "tracing")]
    _facts: spanned::ConnectionFacts,
}

impl RequestSpan {
    /// Returns a span of no request.
    #[inline]
    pub(crate) const fn none() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: None,
        }
    }

    /// Begins the span of an arrived request.
    #[inline]
    pub(crate) fn begin(_head: &Head, _reporter: &Reporter) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: Some(spanned::request(_head, _reporter))
                .filter(|span| !span.is_disabled())
                .map(std::sync::Arc::new),
        }
    }

    /// Runs a function in the span of the request.
    #[inline]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        let _entered = self.span.as_ref().map(|span| span.enter());
        work()
    }

    /// Records that the head of an answer has been sent.
    #[inline]
    pub(crate) fn answered(&self, _status: Status) {
        #[cfg(feature = "tracing")]
        if let Some(span) = &self.span {
            spanned::answered(span, _status);
        }
    }

    pub(crate) fn failed(&self, _failure: &RequestFailure<'_>) {
        #[cfg(feature = "tracing")]
        spanned::failed(self.span.as_deref().unwrap_or(&tracing::Span::none()), _failure);
    }
}

impl ConnectionSpan {
    /// Begins the span of an accepted connection with a known version.
    pub(crate) fn begin(_conn: &Conn) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            _facts: spanned::ConnectionFacts::begin(_conn),
        }
    }
}

/// Reports a handshake that failed.
pub(crate) fn refused(_peer: std::net::SocketAddr, _error: &Error) {
    #[cfg(feature = "tracing")]
    spanned::refused(_peer, _error);
}

/// Returns true if a subscriber of `tracing` takes failures.
#[inline]
pub(crate) fn hears_failures() -> bool {
    #[cfg(feature = "tracing")]
    return spanned::hears_failures();
    #[cfg(not(feature = "tracing"))]
    false
}

/// Returns true if a subscriber of `tracing` takes warnings.
pub(crate) fn hears_warnings() -> bool {
    #[cfg(feature = "tracing")]
    return spanned::hears_warnings();
    #[cfg(not(feature = "tracing"))]
    false
}

/// Reports that the handlers of a route block their connections.
pub(crate) fn slow_turns(_slow: &SlowTurnsTold<'_>) {
    #[cfg(feature = "tracing")]
    spanned::slow_turns(_slow);
}

/// Returns true if the program has a subscriber of `tracing`.
pub(crate) fn has_subscriber() -> bool {
    #[cfg(feature = "tracing")]
    return tracing::dispatcher::has_been_set();
    #[cfg(not(feature = "tracing"))]
    false
}
