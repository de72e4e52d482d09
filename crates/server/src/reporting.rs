//! Who hears of requests that fail: the hook of the program, `tracing`, and in debug builds the standard error stream where nobody
//! else does.
//!
//! Rule: a release build in which nobody listens notes nothing of a request.

use std::{
    any::Any,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use alula_net::{Conn, Fault, Version};

use crate::{
    failure::{FailureCause, RequestFacts, RequestFailure},
    observing::{self, RequestSpan},
};

/// What [`ServerBuilder::on_error`](crate::ServerBuilder::on_error) was given.
pub(crate) type OnError = Arc<dyn Fn(&RequestFailure<'_>) + Send + Sync>;

/// Tells of the failures on one connection.
pub(crate) struct Reporter {
    on_error: Option<OnError>,
    peer: SocketAddr,
    version: Version,
}

impl Reporter {
    pub(crate) fn new(conn: &Conn, on_error: Option<OnError>) -> Self {
        let peer = conn.peer().unwrap_or(SocketAddr::from(([0; 4], 0)));
        Self { on_error, peer, version: conn.version() }
    }

    #[cfg(feature = "tracing")]
    pub(crate) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    #[cfg(feature = "tracing")]
    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// Whether somebody would hear of a failure: then the facts of each request are noted.
    #[inline]
    pub(crate) fn has_listener(&self) -> bool {
        cfg!(debug_assertions) || self.on_error.is_some() || observing::hears_failures()
    }

    /// Tells of a request that failed.
    #[cold]
    pub(crate) fn tell(&self, facts: &RequestFacts, span: &RequestSpan, cause: FailureCause<'_>) {
        let failure = RequestFailure::new(facts, self.peer, self.version, cause);
        span.failed(&failure);
        // A hook that panics, or an error stream that cannot be written, is no reason to end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| self.call_hook(&failure)));
    }

    fn call_hook(&self, failure: &RequestFailure<'_>) {
        match &self.on_error {
            Some(on_error) => on_error(failure),
            None if observing::has_subscriber() || !cfg!(debug_assertions) => {}
            None if failure.fault() == Fault::Caller => eprintln!("alula: {failure}"),
            None => {}
        }
    }
}

/// The message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
