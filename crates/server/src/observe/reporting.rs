//! Reports requests that fail: to the hook of the program, to `tracing`, and in debug builds without either
//! to the standard error stream.
//!
//! Rule: a release build with neither a hook nor a subscriber records nothing of a request.

use std::{
    any::Any,
    io,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use alula_net::{Conn, Error, Fault, Version};

use crate::{
    connection::slow_turns::SlowTurnsTold,
    observe::{
        failure::{FailureCause, RequestFacts, RequestFailure},
        observing::{self, RequestSpan},
    },
};

/// The function that [`ServerBuilder::on_error`](crate::ServerBuilder::on_error) was given.
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

    pub(crate) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// Returns true if somebody would hear of a failure: then the facts of each request are noted.
    #[inline]
    pub(crate) fn has_listener(&self) -> bool {
        cfg!(debug_assertions) || self.on_error.is_some() || observing::hears_failures()
    }

    /// Tells of a request that failed.
    #[cold]
    pub(crate) fn tell(&self, facts: &RequestFacts, span: &RequestSpan, cause: FailureCause<'_>) {
        self.tell_as(RequestFailure::new(facts, self.peer, self.version, cause), span);
    }

    fn tell_as(&self, failure: RequestFailure<'_>, span: &RequestSpan) {
        span.failed(&failure);
        // A hook that panics, or an error stream that cannot be written, is no reason to end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| self.call_hook(&failure)));
    }

    /// Tells of a peer that broke a rule, unless that was told too often.
    #[cold]
    pub(crate) fn tell_refused(&self, error: &Error, facts: &RequestFacts) {
        if let Some(left_out) = GATE.lets_pass() {
            let failure = RequestFailure::new(facts, self.peer, self.version, FailureCause::Refused(error));
            self.tell_as(failure.with_left_out(left_out), &RequestSpan::none());
        }
    }

    /// Returns true if somebody would hear that handlers hold up their connection: only over HTTP/2 do others
    /// wait for them.
    pub(crate) fn hears_slow_turns(&self) -> bool {
        self.version == Version::Http2 && observing::hears_warnings()
    }

    /// Tells that the handlers of a route, or of the server if it has none, hold up the other requests of
    /// their connections.
    ///
    /// Not on the standard error stream: a machine that is busy with other things makes turns slow too, which
    /// is no failure.
    #[cold]
    pub(crate) fn tell_slow_turns(&self, route: Option<&str>, took: Duration) {
        observing::slow_turns(&SlowTurnsTold { route, took });
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

/// Tells that a connection failed before its first request, unless that was told too often.
#[cold]
pub(crate) fn tell_handshake(on_error: Option<&OnError>, peer: SocketAddr, error: &Error) {
    let reporter = Reporter { on_error: on_error.cloned(), peer, version: Version::Http1 };
    if on_error.is_some() {
        reporter.tell_refused(error, &RequestFacts::default());
    }
}

/// Tells that no connection can be accepted, unless that was told too often.
#[cold]
pub(crate) fn tell_accept(on_error: Option<&OnError>, error: &io::Error) {
    let Some(left_out) = GATE.lets_pass() else { return };
    let peer = SocketAddr::from(([0; 4], 0));
    let reporter = Reporter { on_error: on_error.cloned(), peer, version: Version::Http1 };
    let facts = RequestFacts::default();
    let failure = RequestFailure::new(&facts, peer, Version::Http1, FailureCause::Accept(error));
    reporter.tell_as(failure.with_left_out(left_out), &RequestSpan::none());
}

/// Bounds what peers can have told of themselves, in all of the process: a flood of them is no flood of
/// lines.
static GATE: Gate = Gate::new();

/// The number of failures that are told of at once; one more is for each second.
const TOLD_AT_ONCE_MAX: u32 = 10;

/// The time of the last look, and how many may be told of; then how many were left out since one was told of.
pub(crate) struct Gate(Mutex<Option<(Instant, u32)>>, AtomicU64);

impl Gate {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None), AtomicU64::new(0))
    }

    /// Returns how many were left out before this one, unless it is to be left out as well.
    pub(crate) fn lets_pass(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (since, left) = state.unwrap_or((now, TOLD_AT_ONCE_MAX));
        let seconds = now.saturating_duration_since(since).as_secs();
        let left = left.saturating_add(u32::try_from(seconds).unwrap_or(u32::MAX)).min(TOLD_AT_ONCE_MAX);
        *state = Some((since + Duration::from_secs(seconds), left.saturating_sub(1)));
        if left == 0 {
            self.1.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(self.1.swap(0, Ordering::Relaxed))
    }
}

/// Returns the message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pass_at_once() {
        let gate = Gate::new();
        let passed = |tries| (0..tries).filter_map(|_| gate.lets_pass()).collect::<Vec<_>>();
        assert_eq!(passed(100), [0; TOLD_AT_ONCE_MAX as usize]);
        let past = Instant::now().checked_sub(Duration::from_secs(3)).unwrap();
        *gate.0.lock().unwrap() = Some((past, 0));
        assert_eq!(passed(100), [90, 0, 0]);
    }
}
