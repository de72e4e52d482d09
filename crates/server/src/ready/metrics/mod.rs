//! Request counts and durations for Prometheus.

mod counts;
mod refusals;
mod text;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use self::{counts::Counts, refusals::Refusals};
use super::shards::Shards;
use crate::{
    answer::Answer,
    connection::handler::Handler,
    exchange::Exchange,
    observe::failure::{FailureCause, RequestFailure},
    router::{Begun, Ended, Hook},
};
use alula_net::Sent;

/// The label of requests without a route.
const NO_ROUTE: &str = "other";

/// Counts requests and measures them, for Prometheus: a [hook](crate::Hook), and a [handler](Self::handler)
/// that answers scrapes.
///
/// | metric | labels |
/// | --- | --- |
/// | `http_requests_total` | `route`, `method`, `status` |
/// | `http_requests_in_flight` | |
/// | `http_request_duration_seconds` (histogram, 1 ms to 30 s) | `route`, `method` |
/// | `http_requests_refused_total` | `reason` |
/// | `http_request_content_bytes_total`, `http_response_content_bytes_total` | `route`, `method` |
///
/// Labels are bounded whatever peers send: `route` is the pattern of a route, or `other`; `method` one of the
/// nine of RFC 9110 and RFC 5789, or `other`; `status` a class such as `2xx`, or `none` where no answer was
/// begun. A request is counted when it ends. `reason` is the status of a [refusal](Self::refused),
/// `handshake`, `other` for those without a status, or `untold`.
///
/// Counts lie in a part for each thread that serves, so connections of different threads share no memory; a
/// scrape adds them up. A request takes one lock that only a scrape contends for, and allocates nothing once
/// its route and method have been seen by its thread.
///
/// ```
/// use alula::{Metrics, Router, routing::get};
///
/// let metrics = Metrics::new();
/// let router = Router::<()>::new().hook(metrics.clone()).route("/metrics", get(metrics.handler()));
/// # router.build().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<All>);

/// The counts that clones share.
#[derive(Debug, Default)]
struct All {
    parts: Shards<Part>,
    refused: Refusals,
}

/// The counts of one thread.
#[derive(Debug, Default)]
struct Part {
    /// The requests that began on this thread less those that ended on it.
    in_flight: AtomicI64,
    routes: Mutex<HashMap<Box<str>, Counts>>,
}

impl Metrics {
    /// Makes metrics without counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a handler that answers with the counts in the text format 0.0.4 of Prometheus. Allocates. Its
    /// answers show the patterns of all routes.
    pub fn handler<S: 'static>(&self) -> impl Handler<S> + use<S> {
        self.handler_with(String::new)
    }

    /// Returns a handler like [`handler`](Self::handler) that appends the text of other metrics. That text
    /// must use other names and end with a line end.
    pub fn handler_with<S: 'static, F: Fn() -> String + Send + Sync + 'static>(
        &self,
        others: F,
    ) -> impl Handler<S> + use<S, F> {
        let (metrics, others) = (self.clone(), Arc::new(others));
        move |exchange: Exchange<S>| {
            let text = metrics.text() + &others();
            async move { answer(exchange, text).await }
        }
    }

    /// Counts a request that reached no handler, or a connection that failed before its first one: for
    /// [`ServerBuilder::on_error`](crate::ServerBuilder::on_error). Does nothing for other failures, whose
    /// requests are counted anyway. Those that `on_error` was not told of, since there were too many at once,
    /// are counted with the next, as `untold`.
    pub fn refused(&self, failure: &RequestFailure<'_>) {
        if let FailureCause::Refused(error) = failure.cause() {
            self.0.refused.count(failure, error);
        }
    }

    /// Writes the counts in the text format 0.0.4 of Prometheus. Allocates.
    pub fn text(&self) -> String {
        let in_flight = self.0.parts.iter().map(|part| part.in_flight.load(Ordering::Relaxed)).sum();
        text::write(&self.sums(), in_flight) + &self.0.refused.text()
    }

    /// Returns the counts of all threads, by route.
    fn sums(&self) -> Vec<(Box<str>, Counts)> {
        let mut sums = HashMap::<Box<str>, Counts>::new();
        for part in self.0.parts.iter() {
            for (route, counts) in lock(&part.routes).iter() {
                sums.entry(route.clone()).or_default().add(counts);
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        sums
    }
}

impl Hook for Metrics {
    fn begin(&self, _: &mut Begun<'_>) -> Option<Answer> {
        self.0.parts.mine().in_flight.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn end(&self, ended: &Ended<'_>) {
        let part = self.0.parts.mine();
        part.in_flight.fetch_sub(1, Ordering::Relaxed);
        let route = ended.route().unwrap_or(NO_ROUTE);
        let mut routes = lock(&part.routes);
        match routes.get_mut(route) {
            Some(counts) => counts.count(ended),
            None => routes.entry(route.into()).or_default().count(ended),
        }
    }
}

async fn answer<S>(exchange: Exchange<S>, text: String) -> Result<Sent, Answer> {
    let reply = exchange.respond(alula_fields::Status::OK);
    Ok(reply.header("content-type", "text/plain; version=0.0.4; charset=utf-8").send(text).await?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
