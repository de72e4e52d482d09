//! A server whose handlers tell when they begin and when they are dropped, and clients of bytes by hand that
//! leave it.

mod early;
mod left;
mod proxy_cancels;
mod refusals;

use std::convert::Infallible;
use std::future::pending;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use alula::routing::{get, post};
use alula::{
    Error, Exchange, Identity, Limits, Router, Sent, Server, ServerBuilder, Status, Stop, from_tower,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::ends::peer::FOREVER;

/// The steps that handlers tell of.
pub(crate) struct Told(UnboundedReceiver<String>);

impl Told {
    pub(crate) async fn next(&mut self) -> String {
        timeout(FOREVER, self.0.recv()).await.expect("a handler tells something").unwrap()
    }

    /// Returns what was told meanwhile, without waiting.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

/// The handlers' side.
#[derive(Clone)]
pub(crate) struct Tells {
    told: UnboundedSender<String>,
    /// Lets `/late` and `/detached` go on.
    pub(crate) gate: Arc<Notify>,
    /// The pieces that `/floods` has written.
    pub(crate) written: Arc<AtomicUsize>,
}

impl Tells {
    pub(crate) fn new() -> (Self, Told) {
        let (told, rest) = unbounded_channel();
        (Self { told, gate: Arc::default(), written: Arc::default() }, Told(rest))
    }

    pub(crate) fn tell(&self, word: &str) {
        let _ = self.told.send(word.to_owned());
    }

    /// Tells that a handler begins, and later that it is no more.
    pub(crate) fn begin(&self) -> Alive {
        self.tell("begun");
        Alive(self.clone())
    }
}

pub(crate) struct Alive(Tells);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.tell("dropped");
    }
}

async fn never(_alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    pending::<()>().await;
    exchange.respond(Status::OK).send("never").await
}

async fn silent(_alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    let writer = exchange.respond(Status::OK).stream().await?;
    pending::<()>().await;
    writer.finish().await
}

async fn events(_alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    let mut events = exchange.respond(Status::OK).events().await?;
    events.wait(pending::<()>()).await?;
    events.finish().await
}

async fn reads(_alive: Alive, mut exchange: Exchange) -> Result<Sent, Error> {
    let bytes = exchange.body().bytes().await?.len();
    exchange.respond(Status::OK).send(bytes.to_string()).await
}

async fn floods(alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    loop {
        writer.write(&[b'f'; 10_000]).await?;
        alive.0.written.fetch_add(1, Ordering::Relaxed);
    }
}

async fn late(alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    alive.0.gate.notified().await;
    exchange.respond(Status::OK).send("late").await
}

async fn detached(alive: Alive, exchange: Exchange) -> Result<Sent, Error> {
    alive.0.gate.notified().await;
    alive.0.tell("finished");
    exchange.respond(Status::OK).send("finished").await
}

async fn ready(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).send("ready").await
}

/// The routes, one for each way in which a handler waits.
pub(crate) fn router(tells: &Tells) -> Router {
    macro_rules! telling {
        ($handler:ident) => {{
            let tells = tells.clone();
            move |exchange: Exchange| $handler(tells.begin(), exchange)
        }};
    }
    let service = {
        let tells = tells.clone();
        tower::service_fn(move |_: http::Request<alula::Body>| {
            let alive = tells.begin();
            async move {
                let _alive = alive;
                pending::<()>().await;
                Ok::<_, Infallible>(http::Response::new(String::new()))
            }
        })
    };
    Router::new()
        .route("/never", get(telling!(never)).post(telling!(never)))
        .route("/silent", get(telling!(silent)))
        .route("/events", get(telling!(events)))
        .route("/reads", post(telling!(reads)))
        .route("/floods", get(telling!(floods)))
        .route("/late", get(telling!(late)))
        .route("/detached", get(telling!(detached)).detached())
        .route("/spawned", get(telling!(never)).spawned())
        .route("/tower", get(from_tower(service)))
        .route("/two", get(telling!(never)).concurrency(2))
        .route("/ready", get(ready).post(telling!(reads)))
}

/// A server of these routes.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) told: Told,
    pub(crate) tells: Tells,
    pub(crate) stop: Stop,
    task: JoinHandle<()>,
}

impl Served {
    pub(crate) async fn begin() -> Self {
        Self::with(Server::builder()).await
    }

    pub(crate) async fn with(builder: ServerBuilder) -> Self {
        let (tells, told) = Tells::new();
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        let routes = router(&tells).build().unwrap();
        // Longer than the test waits: a stop that has to wait for it fails.
        let served = server.serve_with_grace(routes, 10 * FOREVER);
        let task = tokio::spawn(async move { served.await.unwrap() });
        Self { address, told, tells, stop, task }
    }

    /// Stops the server; no connection may be left that it has to wait for.
    pub(crate) async fn end(self) {
        self.stop.stop();
        timeout(FOREVER, self.task).await.expect("no connection is left").unwrap();
    }
}

/// Limits by which nothing ends within a test.
pub(crate) fn patient() -> Limits {
    Limits { stall_timeout: 10 * FOREVER, body_rate_min: 0, ..Limits::default() }
}

/// The way in which a client over TLS leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Farewell {
    /// It says that it sends no more, and leaves the socket open.
    CloseNotify,
    /// It ends its side of the socket without that.
    Fin,
    /// Both.
    Both,
}

/// A client over TLS that sends a request, waits for this sign and then leaves; returns what it has read
/// until the server closed.
pub(crate) async fn leave_tls(
    address: SocketAddr,
    certificate: String,
    request: &'static [u8],
    farewell: Farewell,
    sign: impl Future<Output = ()>,
) -> Vec<u8> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let session =
        ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let begun = spawn_blocking(move || {
        let socket = std::net::TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(FOREVER)).unwrap();
        let mut stream = StreamOwned::new(session, socket);
        stream.write_all(request).unwrap();
        stream.flush().unwrap();
        stream
    });
    let mut stream = begun.await.unwrap();
    sign.await;
    let read = spawn_blocking(move || {
        if farewell != Farewell::Fin {
            stream.conn.send_close_notify();
            stream.flush().unwrap();
        }
        if farewell != Farewell::CloseNotify {
            stream.sock.shutdown(Shutdown::Write).unwrap();
        }
        let mut read = Vec::new();
        // How the server ends TLS is not the matter here.
        let _ = stream.read_to_end(&mut read);
        read
    });
    read.await.unwrap()
}

/// An identity and its certificate.
pub(crate) fn identity() -> (Identity, String) {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let certificate = identity.certificate_pem().unwrap().to_owned();
    (identity, certificate)
}

/// A list that a hook of a server fills.
pub(crate) type Lines = Arc<Mutex<Vec<String>>>;
