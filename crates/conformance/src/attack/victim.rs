//! A server of this process on a thread of its own, whose memory is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ::alula::{Error, Exchange, Limits, Sent, Server, Status, Stop};
use alula_tally::{Side, set_side, side};

/// How often one looks at what is held.
const LOOK: Duration = Duration::from_micros(200);

/// How long connections may take to end when the server is stopped.
const GRACE: Duration = Duration::from_millis(100);

/// A server under attack. It answers `/small` with 13 octets, `/large` with 64 MiB, `/echo` with the content it gets,
/// `/never` not at all, and anything else with 404.
pub struct Victim {
    port: u16,
    stop: Stop,
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
                started.send((port, server.stop_handle())).expect("the test waits for it");
                server.serve_with_grace(answer, GRACE).await.expect("the listener stays whole");
            });
        });
        let (port, stop) = has_started.recv().expect("it starts");
        Self { port, stop, thread: Some(thread) }
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The octets its thread holds now.
    #[must_use]
    pub fn held(&self) -> i64 {
        side(Side::SERVER).bytes_live()
    }

    /// Looks at what is held again and again.
    #[must_use]
    pub fn watch(&self) -> Watch {
        let watch = Arc::new(Watched { peak: AtomicI64::new(self.held()), ended: AtomicBool::new(false) });
        thread::spawn({
            let watch = Arc::clone(&watch);
            move || watch.run()
        });
        Watch(watch)
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

/// The most that was held since it began.
pub struct Watch(Arc<Watched>);

struct Watched {
    peak: AtomicI64,
    ended: AtomicBool,
}

impl Watch {
    /// The most octets that were held at once.
    #[must_use]
    pub fn peak(&self) -> i64 {
        self.0.look()
    }
}

impl Watched {
    fn look(&self) -> i64 {
        let held = side(Side::SERVER).bytes_live();
        self.peak.fetch_max(held, Ordering::Relaxed).max(held)
    }

    #[allow(clippy::disallowed_methods, reason = "what another thread holds is seen by looking again")]
    fn run(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            self.look();
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path() {
        "/small" => exchange.respond(Status::OK).send(b"Hello, World!").await,
        "/large" => large(exchange).await,
        "/echo" => echo(exchange).await,
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

async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}
