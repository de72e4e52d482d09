//! Alula's server with the answers of [`routes`], and a record of who asked for what.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alula::{
    Body, Error, Exchange, FieldSection, Identity, KnownName, Limits, Reply, Sent, Server, Status, Stop,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::routes::{self, HALF, HELD, HINTED, LAST, RELEASED, SMALL, TRAILED, TRAILERS};
use super::way::Way;
use crate::certificates::Certificates;
use crate::poll;

/// A running server, which ends with this value.
pub struct OwnServer {
    port: u16,
    shared: Arc<Shared>,
    _runtime: Runtime,
}

/// What the requests have in common, those before and after GOAWAY alike.
struct Shared {
    identity: Identity,
    limits: Limits,
    released: Notify,
    connections: Mutex<BTreeSet<SocketAddr>>,
    requests: AtomicUsize,
    given_up: AtomicUsize,
}

impl OwnServer {
    /// Listens in clear text and over TLS, with limits that let large sections pass.
    ///
    /// # Panics
    /// When it cannot listen.
    #[must_use]
    pub fn start(certificates: &Certificates) -> Self {
        Self::with_limits(certificates, Limits { field_section_bytes: 64 * 1024, ..Limits::default() })
    }

    /// As [`start`](Self::start), with these limits.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn with_limits(certificates: &Certificates, limits: Limits) -> Self {
        let read = |path| std::fs::read(path).expect("our own file");
        let identity = Identity::from_pem(&read(certificates.certificate()), &read(certificates.key()));
        let shared = Arc::new(Shared {
            identity: identity.expect("our own certificate"),
            limits,
            released: Notify::new(),
            connections: Mutex::default(),
            requests: AtomicUsize::new(0),
            given_up: AtomicUsize::new(0),
        });
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let port = runtime.block_on(serve(Arc::clone(&shared), 0)).expect("a free port");
        Self { port, shared, _runtime: runtime }
    }

    /// The beginning of every URL, to which a path is added.
    #[must_use]
    pub fn base(&self, way: Way) -> String {
        match way {
            Way::Clear => format!("http://127.0.0.1:{}/", self.port),
            Way::Tls => format!("https://localhost:{}/", self.port),
        }
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, way: Way, path: &str) -> String {
        self.base(way) + path
    }

    /// The number of connections that have carried requests.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The number of requests that have come.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Waits until an answer was given up by the client.
    ///
    /// # Panics
    /// When none is within 10 seconds.
    pub fn wait_for_giving_up(&self) {
        let given_up = || (self.shared.given_up.load(Ordering::Relaxed) > 0).then_some(());
        assert!(poll::within(Duration::from_secs(10), given_up).is_some(), "the server knows of no reset");
    }
}

/// Listens on the port, serves in the background, and answers with the port.
async fn serve(shared: Arc<Shared>, port: u16) -> std::io::Result<u16> {
    let builder = Server::builder().identity(shared.identity.clone()).limits(shared.limits.clone());
    let server = builder.bind(("127.0.0.1", port)).await?;
    let (port, stop) = (server.address()?.port(), server.stop_handle());
    let handler = move |exchange: Exchange| {
        let handling = Handling { shared: Arc::clone(&shared), stop: stop.clone(), port };
        async move { handling.answer(exchange).await }
    };
    tokio::spawn(server.serve(handler));
    Ok(port)
}

/// As [`serve`], with a future whose type has a name: the handler's own is part of what it serves.
fn successor(shared: &Arc<Shared>, port: u16) -> Pin<Box<dyn Future<Output = std::io::Result<u16>> + Send>> {
    Box::pin(serve(Arc::clone(shared), port))
}

/// One request's surroundings.
struct Handling {
    shared: Arc<Shared>,
    stop: Stop,
    port: u16,
}

impl Handling {
    async fn answer(self, mut exchange: Exchange) -> Result<Sent, Error> {
        self.note(exchange.peer());
        let target = exchange.request().path().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let number = |name: &str| parameter(query, name);
        match path {
            "/small.txt" => ok(exchange).send(SMALL.as_bytes()).await,
            "/empty.txt" => ok(exchange).send(&[]).await,
            "/big" => self.big(exchange, number("n=")).await,
            "/echo" => echo(exchange).await,
            "/upload" => compare(exchange).await,
            "/trailers" => trailers(exchange).await,
            "/sent-trailers" => {
                let received = sent_trailers(exchange.body()).await?;
                ok(exchange).send(received.as_bytes()).await
            }
            "/interim" => {
                exchange.interim(Status::EARLY_HINTS)?;
                exchange.interim(Status::EARLY_HINTS)?;
                ok(exchange).send(HINTED.as_bytes()).await
            }
            "/reset" => reset(exchange).await,
            "/wait" => self.wait(exchange).await,
            "/release" => {
                self.shared.released.notify_one();
                ok(exchange).send(RELEASED.as_bytes()).await
            }
            "/goaway" => self.goaway(exchange).await,
            "/fields" => fields(exchange, number("n="), number("size=")).await,
            "/large-fields" => {
                let is_same = sent_fields(&exchange) == routes::large_fields_received();
                exchange.respond(if is_same { Status::OK } else { Status::BAD_REQUEST }).send(&[]).await
            }
            _ => exchange.respond(Status::NOT_FOUND).send(&[]).await,
        }
    }

    fn note(&self, peer: SocketAddr) {
        self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner).insert(peer);
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
    }

    async fn big(&self, exchange: Exchange, length: usize) -> Result<Sent, Error> {
        // A handler whose stream is reset is dropped where it waits.
        let mut whole = Whole { given_up: &self.shared.given_up, sent: false };
        let mut writer = ok(exchange).header(KnownName::CONTENT_LENGTH, length.to_string()).stream().await?;
        let block = routes::alphabet(26 * 1024);
        let mut left = length;
        while left > 0 {
            let part = &block[..block.len().min(left)];
            writer.write(part).await?;
            left -= part.len();
        }
        whole.sent = true;
        writer.finish().await
    }

    async fn wait(&self, exchange: Exchange) -> Result<Sent, Error> {
        let (first, rest) = HELD.split_at(5);
        let mut writer = ok(exchange).stream().await?;
        writer.write(first.as_bytes()).await?;
        self.shared.released.notified().await;
        writer.finish_content(rest.as_bytes()).await
    }

    /// Stops this server and answers once another listens in its place.
    async fn goaway(self, exchange: Exchange) -> Result<Sent, Error> {
        self.stop.stop();
        // The listener goes when the server's own task has seen the stop.
        while successor(&self.shared, self.port).await.is_err() {
            tokio::task::yield_now().await;
        }
        ok(exchange).send(LAST.as_bytes()).await
    }
}

/// Counts an answer that was not sent to its end.
struct Whole<'a> {
    given_up: &'a AtomicUsize,
    sent: bool,
}

impl Drop for Whole<'_> {
    fn drop(&mut self) {
        self.given_up.fetch_add(usize::from(!self.sent), Ordering::Relaxed);
    }
}

fn ok(exchange: Exchange) -> Reply {
    exchange.respond(Status::OK)
}

fn parameter(query: &str, name: &str) -> usize {
    let value = query.split('&').find_map(|part| part.strip_prefix(name));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}

/// Says by its status whether the content is [`routes::upload`], for clients that do not show what they get.
async fn compare(mut exchange: Exchange) -> Result<Sent, Error> {
    let mut content = Vec::new();
    exchange.body().copy_to(&mut content).await?;
    let is_same = content == routes::upload();
    exchange.respond(if is_same { Status::OK } else { Status::BAD_REQUEST }).send(&[]).await
}

async fn trailers(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = ok(exchange).header("trailer", "x-checksum, x-count").stream().await?;
    writer.write(TRAILED.as_bytes()).await?;
    writer.finish_with(&FieldSection::from_pairs(TRAILERS)?).await
}

async fn sent_trailers(body: &mut Body) -> Result<String, Error> {
    let received = body.trailers().await?;
    let value = |name| received.and_then(|fields| fields.get(name)).unwrap_or_default();
    let line = |name| format!("{name}: {}\n", String::from_utf8_lossy(value(name)));
    Ok(TRAILERS.iter().map(|(name, _)| line(*name)).collect())
}

async fn reset(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = ok(exchange).header(KnownName::CONTENT_LENGTH, "20").stream().await?;
    writer.write(HALF.as_bytes()).await?;
    drop(writer);
    Err(Error::cancelled())
}

async fn fields(exchange: Exchange, count: usize, bytes: usize) -> Result<Sent, Error> {
    let sent = sent_fields(&exchange);
    let mut reply = ok(exchange);
    for field in 0..count {
        reply = reply.header(&*format!("x-field-{field}"), "v".repeat(bytes));
    }
    reply.send(sent.as_bytes()).await
}

fn sent_fields(exchange: &Exchange) -> String {
    let sent =
        exchange.request().headers().iter().filter(|field| field.name().as_str().starts_with("x-sent-"));
    let (count, bytes) = sent.fold((0, 0), |(count, bytes), field| (count + 1, bytes + field.value().len()));
    format!("{count} fields, {bytes} bytes\n")
}
