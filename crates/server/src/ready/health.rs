//! Health checks: a server's liveness and readiness.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use alula_fields::{KnownName, Status};
use alula_net::Sent;

use crate::{answer::Answer, connection::handler::Handler, exchange::Exchange};

/// Answers probes of load balancers and orchestrators: [`live`](Self::live) with 200 as long as the server
/// answers,
/// [`ready`](Self::ready) with 200 or 503 as a [switch](Self::set_ready) stands. Clones share the switch.
///
/// ```
/// use alula::{Health, Router, routing::get};
///
/// let health = Health::new();
/// let router =
///     Router::<()>::new().route("/livez", get(health.live())).route("/readyz", get(health.ready()));
/// // Before the server stops, so that no new requests are sent to it:
/// health.set_ready(false);
/// # router.build().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Health(Arc<AtomicBool>);

impl Health {
    /// Creates a switch that is ready.
    pub fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Sets whether the server is ready for requests.
    pub fn set_ready(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Release);
    }

    /// Returns true if the server is ready to take requests.
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Returns a handler that answers 200.
    pub fn live<S: 'static>(&self) -> impl Handler<S> + use<S> {
        |exchange: Exchange<S>| answer(exchange, true)
    }

    /// Returns a handler that answers 200 if the server is ready, else 503.
    pub fn ready<S: 'static>(&self) -> impl Handler<S> + use<S> {
        let health = self.clone();
        move |exchange: Exchange<S>| answer(exchange, health.is_ready())
    }
}

impl Default for Health {
    fn default() -> Self {
        Self::new()
    }
}

async fn answer<S>(exchange: Exchange<S>, is_well: bool) -> Result<Sent, Answer> {
    let (status, text) =
        if is_well { (Status::OK, "ok\n") } else { (Status::SERVICE_UNAVAILABLE, "not ready\n") };
    let reply = exchange.respond(status).header(KnownName::CACHE_CONTROL, "no-store");
    Ok(reply.header(KnownName::CONTENT_TYPE, "text/plain; charset=utf-8").send(text).await?)
}
