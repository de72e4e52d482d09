//! The demo's server, on a thread of its own, for clear text and TLS on one port.

use std::{net::SocketAddr, sync::mpsc, thread};

use alula::{Exchange, FieldSection, Identity, Server, Status, Stop};
use alula_tally::Side;

use super::exchange;
use crate::exit::{Exit, Failure};

/// A running server. It ends with the process at the latest.
#[derive(Clone)]
pub(super) struct DemoServer {
    pub(super) address: SocketAddr,
    /// The certificate it shows, as PEM.
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
                let _ = server.serve(move |exchange| answer(exchange, &fields)).await;
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

fn answer(
    exchange: Exchange,
    fields: &FieldSection,
) -> impl Future<Output = Result<alula::Sent, alula::Error>> + Send + use<> {
    let mut reply = exchange.respond(Status::OK);
    reply.fields_mut().extend_from(fields);
    reply.send(&[])
}
