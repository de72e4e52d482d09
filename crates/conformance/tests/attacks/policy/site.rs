//! A server that answers as a test wants and notes what it was asked, and clients for it.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use alula::{
    Call, Client, ClientBuilder, Error, Exchange, FieldSection, Identity, Response, Sent, Server, Status,
    Stop,
};
use tokio::time::timeout;

/// No call takes that long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that connections may take to end when a site is stopped.
const GRACE: Duration = Duration::from_millis(100);

/// One request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) fields: FieldSection,
}

impl Seen {
    /// What comes after the question mark.
    pub(crate) fn query(&self) -> &str {
        self.path.split_once('?').map_or("", |(_, query)| query)
    }

    /// The value of a field, nothing when it is not there.
    pub(crate) fn header(&self, name: &str) -> String {
        String::from_utf8_lossy(self.fields.get(name).unwrap_or_default()).into_owned()
    }
}

/// What a site answers with.
pub(crate) struct Answer {
    status: u16,
    fields: Vec<(&'static str, String)>,
    content: Option<Vec<u8>>,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, fields: Vec::new(), content: Some(Vec::new()) }
    }

    pub(crate) fn to(location: impl Into<String>) -> Self {
        Self::new(302).header("location", location)
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    pub(crate) fn content(mut self, content: Vec<u8>) -> Self {
        self.content = Some(content);
        self
    }

    /// Content that goes on as long as somebody takes it.
    pub(crate) fn without_end(mut self) -> Self {
        self.content = None;
        self
    }
}

type Answers = dyn Fn(&Seen) -> Answer + Send + Sync;

/// A server on a thread of its own.
pub(crate) struct Site {
    pub(crate) port: u16,
    /// Scheme and authority.
    pub(crate) origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    /// In clear text.
    pub(crate) fn start(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::run(None, Arc::new(answer))
    }

    /// Over TLS, with a certificate for this machine.
    pub(crate) fn start_secured(
        identity: Identity,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::run(Some(identity), Arc::new(answer))
    }

    fn run(identity: Option<Identity>, answer: Arc<Answers>) -> Self {
        let scheme = if identity.is_some() { "https" } else { "http" };
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (noted, (started, has_started)) = (seen.clone(), mpsc::channel());
        let thread = thread::spawn(move || {
            block_on(async {
                let builder = Server::builder();
                let builder = match identity {
                    Some(identity) => builder.identity(identity),
                    None => builder,
                };
                let server = builder.bind("127.0.0.1:0").await.expect("a free port");
                let port = server.address().expect("a listener has an address").port();
                started.send((port, server.stop_handle())).expect("the test waits for it");
                let handler = move |exchange| reply(exchange, noted.clone(), answer.clone());
                server.serve_with_grace(handler, GRACE).await.expect("the listener stays whole");
            });
        });
        let (port, stop) = has_started.recv().expect("it starts");
        Self { port, origin: format!("{scheme}://localhost:{port}"), seen, stop, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// What was asked since the last look.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn reply(
    exchange: Exchange,
    noted: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<Answers>,
) -> Result<Sent, Error> {
    let request = exchange.request();
    let seen = Seen { path: request.path().to_owned(), fields: request.headers().clone() };
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(seen.clone());
    let Answer { status, fields, content } = answer(&seen);
    let mut reply = exchange.respond(Status::new(status).expect("a status"));
    for (name, value) in fields {
        reply = reply.header(name, value);
    }
    if let Some(content) = content {
        return reply.send(&content).await;
    }
    let mut writer = reply.stream().await?;
    loop {
        writer.write(&[b'x'; 16 * 1024]).await?;
    }
}

/// Runs it on this thread, so that what it allocates is counted here.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(future)
}

/// A builder for each version. No proxy of the environment comes between.
pub(crate) fn builders() -> [ClientBuilder; 2] {
    [ClientBuilder::http1_only, ClientBuilder::http2_only]
        .map(|version| version(Client::builder().no_proxy()))
}

/// A client of each version.
pub(crate) fn clients(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> [Client; 2] {
    builders().map(|builder| settings(builder).build().expect("a client"))
}

pub(crate) async fn send(call: Call<'_>) -> Result<Response, Error> {
    timeout(PATIENCE, call.send()).await.expect("the call ends")
}
