//! A server of this process on a thread of its own, whose memory is counted.

use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ::alula::{Error, Exchange, Ledger, Limits, Sent, Server, Status, Stop};
use alula_tally::{Side, set_side};

/// The time that connections may take to end when the server is stopped.
const GRACE: Duration = Duration::from_millis(100);

/// A server under attack. It answers `/small` with 13 bytes, `/large` with 64 MiB, `/echo` with the content
/// it gets, `/read` with 204 once it has the content, `/there` with 202, `/never` not at all, and anything
/// else with 404.
///
/// Two of its paths allow slow peers: `/patient` answers with 200 at once and then reads the content,
/// `/hopeful` reads the content and then answers with 204.
pub struct Victim {
    port: u16,
    stop: Stop,
    ledger: Arc<Ledger>,
    thread: Option<JoinHandle<()>>,
}

impl Victim {
    /// Starts one with these limits.
    ///
    /// # Panics
    /// When no port can be had.
    #[must_use]
    pub fn start(limits: Limits) -> Self {
        let (started, has_started) = mpsc::channel();
        let thread = thread::spawn(move || {
            set_side(Side::SERVER);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(async {
                let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.expect("a free port");
                let port = server.address().expect("a listener has an address").port();
                started.send((port, server.stop_handle(), server.ledger())).expect("the test waits for it");
                server.serve_with_grace(answer, GRACE).await.expect("the listener stays whole");
            });
        });
        let (port, stop, ledger) = has_started.recv().expect("it starts");
        Self { port, stop, ledger, thread: Some(thread) }
    }

    /// What it has counted.
    #[must_use]
    pub fn ledger(&self) -> Arc<Ledger> {
        self.ledger.clone()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path() {
        "/small" => exchange.respond(Status::OK).send(b"Hello, World!").await,
        "/large" => large(exchange).await,
        "/echo" => echo(exchange).await,
        "/read" => read(exchange).await,
        "/patient" => patient(exchange).await,
        "/hopeful" => {
            exchange.allow_slow_peer();
            read(exchange).await
        }
        "/there" => exchange.respond(Status::ACCEPTED).send(b"").await,
        "/never" => std::future::pending().await,
        _ => exchange.respond(Status::NOT_FOUND).send(b"").await,
    }
}

async fn large(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    for _ in 0..64 * 64 {
        writer.write(&[b'x'; 16 * 1024]).await?;
    }
    writer.finish().await
}

async fn read(mut exchange: Exchange) -> Result<Sent, Error> {
    while exchange.body().chunk().await?.is_some() {}
    exchange.respond(Status::NO_CONTENT).send(b"").await
}

async fn patient(exchange: Exchange) -> Result<Sent, Error> {
    exchange.allow_slow_peer();
    let (_, mut body, responder) = exchange.split();
    let writer = responder.respond(Status::OK).stream().await?;
    while body.chunk().await?.is_some() {}
    writer.finish().await
}

async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}
