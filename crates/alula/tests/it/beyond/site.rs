//! A server that redirects as it is asked to and remembers what it was asked, and clients for it.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{
    Call, Client, ClientBuilder, Error, Exchange, FieldSection, Identity, Response, Sent, Server, Status,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);

/// One request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) authority: String,
    pub(crate) fields: FieldSection,
    pub(crate) content: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.fields.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }
}

/// What a site answers with.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) content: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, fields: Vec::new(), content: b"content".to_vec() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}

pub(crate) struct Site {
    /// Scheme and authority.
    pub(crate) origin: String,
    /// In PEM, of a site over TLS.
    pub(crate) certificate: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Site {
    /// A site in clear text.
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(Server::bind("127.0.0.1:0").await.unwrap(), "http", String::new(), answer).await
    }

    /// A site over TLS, whose certificate nobody knows.
    pub(crate) async fn start_secured(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let certificate = identity.certificate_pem().unwrap_or_default().to_owned();
        let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
        Self::serve(server, "https", certificate, answer).await
    }

    async fn serve(
        server: Server,
        scheme: &str,
        certificate: String,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let inner = server.address().unwrap();
        let (seen, answer) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::new(answer));
        let noted = seen.clone();
        tokio::spawn(server.serve(move |exchange: Exchange| {
            let (noted, answer) = (noted.clone(), answer.clone());
            async move { reply(exchange, &noted, &*answer).await }
        }));
        // Counts the connections on their way.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("{scheme}://localhost:{}", listener.local_addr().unwrap().port());
        let connections = Arc::<AtomicUsize>::default();
        let counter = connections.clone();
        tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                counter.fetch_add(1, Relaxed);
                tokio::spawn(async move {
                    let mut to = TcpStream::connect(inner).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                });
            }
        });
        Self { origin, certificate, seen, connections }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// What was asked since the last look.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// Methods and paths of what was asked since the last look.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        self.take_seen().into_iter().map(|seen| seen.line).collect()
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
}

async fn reply(
    mut exchange: Exchange,
    noted: &Mutex<Vec<Seen>>,
    answer: &(impl Fn(&Seen) -> Answer + Sync),
) -> Result<Sent, Error> {
    let mut content = Vec::new();
    exchange.body().copy_to(&mut content).await?;
    let request = exchange.request();
    let seen = Seen {
        line: format!("{} {}", request.method(), request.path()),
        authority: request.authority().unwrap_or_default().to_owned(),
        fields: request.headers().clone(),
        content,
    };
    noted.lock().unwrap().push(seen.clone());
    let Answer { status, fields, content } = answer(&seen);
    let mut reply = exchange.respond(Status::new(status).unwrap());
    for (name, value) in fields {
        reply = reply.header(name, value);
    }
    reply.send(&content).await
}

/// A client of each version.
pub(crate) fn clients(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> [Client; 2] {
    [false, true].map(|http2| settings(Client::builder().http2_prior_knowledge(http2)).build().unwrap())
}

pub(crate) async fn send(call: Call<'_>) -> Result<Response, Error> {
    timeout(FOREVER, call.send()).await.expect("the call ends")
}

pub(crate) async fn post(call: Call<'_>, content: &[u8]) -> Result<Response, Error> {
    timeout(FOREVER, call.send_body(content)).await.expect("the call ends")
}
