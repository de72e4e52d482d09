//! The demo's server, on a thread of its own, for clear text and TLS on one port.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use alula::{Exchange, FieldSection, Identity, Server, Status, Stop};
use alula_tally::Side;
use tokio::sync::Notify;

use super::exchange;
use crate::failure::exit::{Exit, Failure};

/// A running server. It ends with the process at the latest.
#[derive(Clone)]
pub(super) struct DemoServer {
    pub(super) address: SocketAddr,
    /// The server's certificate, as PEM.
    pub(super) certificate: String,
    stop: Stop,
}

impl DemoServer {
    /// Listens on a free port of loopback.
    pub(super) fn start() -> Result<Self, Failure> {
        let (started, server) = mpsc::channel();
        let fields = exchange::response_fields().map_err(alula::Error::from)?;
        thread::spawn(move || {
            alula_tally::set_side(Side::SERVER);
            serve(fields, &started);
        });
        server.recv().unwrap_or_else(|_| Err(Failure::new(Exit::Local, "the demo's server could not start")))
    }

    pub(super) fn stop(&self) {
        self.stop.stop();
    }
}

fn serve(fields: FieldSection, started: &mpsc::Sender<Result<DemoServer, Failure>>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        match listen().await {
            Ok((server, about)) => {
                let _ = started.send(Ok(about));
                // When the listener breaks the client sees it, and says so.
                let gate = Arc::<Gate>::default();
                let _ = server.serve(move |exchange| answer(exchange, &fields, &gate)).await;
            }
            Err(failure) => drop(started.send(Err(failure))),
        }
    });
}

async fn listen() -> Result<(Server, DemoServer), Failure> {
    let identity = Identity::self_signed(["127.0.0.1"])?;
    let certificate = identity.certificate_pem().unwrap_or_default().to_owned();
    let failed = |error| Failure::local("listening on loopback", &error);
    let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.map_err(failed)?;
    let about =
        DemoServer { address: server.address().map_err(failed)?, certificate, stop: server.stop_handle() };
    Ok((server, about))
}

/// Holds requests until so many have come, so that all buffers reach their sizes before figures are taken.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    are_there: Notify,
}

impl Gate {
    async fn wait_for(&self, all: usize) {
        // It hears of what happens from here on, so that nothing is missed after the count.
        let are_there = self.are_there.notified();
        if self.arrived.fetch_add(1, Relaxed) + 1 < all {
            return are_there.await;
        }
        self.arrived.store(0, Relaxed);
        self.are_there.notify_waiters();
    }
}

fn answer(
    exchange: Exchange,
    fields: &FieldSection,
    gate: &Arc<Gate>,
) -> impl Future<Output = Result<alula::Sent, alula::Error>> + Send + use<> {
    let awaited = exchange::awaited(exchange.request().path()).map(|all| (gate.clone(), all));
    let mut reply = exchange.respond(Status::OK);
    reply.headers_mut().extend_from(fields);
    async move {
        if let Some((gate, all)) = awaited {
            gate.wait_for(all).await;
        }
        reply.send(&[]).await
    }
}
