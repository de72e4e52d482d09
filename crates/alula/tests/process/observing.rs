//! What is told of calls and connections, to a subscriber of `tracing` and a recorder of `metrics`.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use alula::{Client, Error, Exchange, Server, Status};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata as About, Recorder, SharedString, Unit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

/// Everything that was told, one line each.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>, Arc<AtomicU64>);

impl Lines {
    fn add(&self, mut line: String, fields: impl FnOnce(&mut Line<'_>)) {
        fields(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
    }

    #[track_caller]
    fn has(&self, parts: &[&str]) {
        let lines = self.0.lock().unwrap();
        assert!(
            lines.iter().any(|line| parts.iter().all(|part| line.contains(part))),
            "{parts:?} in {lines:#?}"
        );
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.target() == "alula"
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let id = self.1.fetch_add(1, Ordering::Relaxed) + 1;
        self.add(format!("span {id} {}", span.metadata().name()), |line| span.record(line));
        span::Id::from_u64(id)
    }

    fn record(&self, span: &span::Id, values: &span::Record<'_>) {
        self.add(format!("record {}", span.into_u64()), |line| values.record(line));
    }

    fn event(&self, event: &Event<'_>) {
        self.add("event".into(), |line| event.record(line));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Every number, by name and label.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, f64>>>);

impl Numbers {
    fn of(&self, name: &str) -> f64 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }

    fn cell(&self, key: &Key) -> Arc<Cell> {
        let label =
            key.labels().map(|label| format!(" {}={}", label.key(), label.value())).collect::<String>();
        Arc::new(Cell { numbers: self.clone(), name: format!("{}{label}", key.name()) })
    }
}

struct Cell {
    numbers: Numbers,
    name: String,
}

impl Cell {
    fn add(&self, more: f64) {
        *self.numbers.0.lock().unwrap().entry(self.name.clone()).or_default() += more;
    }
}

impl metrics::CounterFn for Cell {
    fn increment(&self, more: u64) {
        self.add(more as f64);
    }

    fn absolute(&self, _: u64) {}
}

impl metrics::GaugeFn for Cell {
    fn increment(&self, more: f64) {
        self.add(more);
    }

    fn decrement(&self, less: f64) {
        self.add(-less);
    }

    fn set(&self, _: f64) {}
}

impl metrics::HistogramFn for Cell {
    fn record(&self, _: f64) {
        self.add(1.0);
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &About<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }

    fn register_gauge(&self, key: &Key, _: &About<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }

    fn register_histogram(&self, key: &Key, _: &About<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

pub(crate) fn calls_and_connections_are_told_of_and_counted() {
    let (lines, numbers) = (Lines::default(), Numbers::default());
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    metrics::set_global_recorder(numbers.clone()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let port = runtime.block_on(send_some());
    // Connections end with their runtime at the latest.
    drop(runtime);

    let port = &*format!("server.port={port}");
    lines.has(&[
        "span",
        "http.request.method=\"GET\"",
        "url.scheme=\"http\"",
        "server.address=\"127.0.0.1\"",
        port,
    ]);
    lines.has(&["span", "http.request.method=\"POST\"", "otel.kind=\"client\""]);
    lines.has(&["record", "http.response.status_code=404"]);
    lines.has(&["record", "network.protocol.version=\"2\""]);
    lines.has(&["record", "network.protocol.version=\"1.1\""]);
    lines.has(&["record", "error.type=\"connect\""]);
    lines.has(&["event", "request failed", "refused"]);
    lines.has(&["event", "connection opened", "network.peer.address", "127.0.0.1"]);
    lines.has(&["event", "connection closed", "network.protocol.version=\"2\""]);
    lines.has(&["event", "connection failed", "error.type=\"connect\""]);

    // The server tells of the same.
    lines.has(&["span", "otel.kind=\"server\"", "http.request.method=\"GET\"", "url.path=\"/missing\""]);
    lines.has(&[
        "span",
        "otel.kind=\"server\"",
        "client.address=127.0.0.1",
        "network.protocol.version=\"2\"",
    ]);
    lines.has(&["event", "connection accepted", "network.peer.address=127.0.0.1"]);
    for (path, kind, cause) in
        [("/fails", "handler", "the disk is full"), ("/panics", "panic", "the handler panicked: as asked")]
    {
        lines.has(&["event", "request failed", &format!("error=GET {path}"), "from 127.0.0.1", cause]);
        lines.has(&["record", &format!("error.type=\"{kind}\"")]);
    }
    lines.has(&["record", "http.response.status_code=500"]);
    lines.has(&["event", "within the handler"]);
    assert!(!lines.0.lock().unwrap().iter().any(|line| line.contains("secret")), "a secret is shown");
    lines.has(&["event", "connection not accepted", "network.peer.address=127.0.0.1"]);

    let of = |name| numbers.of(name);
    assert_eq!(of("http.client.requests outcome=2xx"), 4.0, "two plain, two by `open`");
    assert_eq!(of("http.client.requests outcome=4xx"), 2.0);
    assert_eq!(of("http.client.requests outcome=5xx"), 4.0);
    assert_eq!(of("http.client.requests outcome=connect"), 2.0);
    assert_eq!(of("http.client.requests outcome=given_up"), 2.0);
    assert_eq!(of("http.client.request.duration outcome=2xx"), 4.0);
    assert_eq!(of("http.client.active_requests"), 0.0);
    assert_eq!(of("http.client.connections.failed"), 2.0);
    assert!(of("http.client.connections.opened") >= 2.0);
    assert_eq!(of("http.client.connections.closed"), of("http.client.connections.opened"));
    assert_eq!(of("http.client.open_connections"), 0.0);
}

/// Over either version one call that is answered, one by parts, one that finds nothing, one given up and one
/// that reaches nobody.
async fn send_some() -> u16 {
    let identity = alula::Identity::self_signed(["localhost"]).unwrap();
    let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
    let port = server.address().unwrap().port();
    tokio::spawn(server.serve(|exchange: Exchange| async move {
        match exchange.request().path() {
            "/never" => std::future::pending().await,
            "/" => exchange.respond(Status::OK).send(b"Hello").await,
            "/fails?token=secret" => Err(Error::other("the disk is full")),
            "/panics" => {
                tracing::info!(target: "alula", "within the handler");
                panic!("as asked")
            }
            _ => exchange.respond(Status::NOT_FOUND).send(b"").await,
        }
    }));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        client.get(&url("/")).send().await.unwrap();
        client.get(&url("/missing")).send().await.unwrap();
        let secrets = url("/fails?token=secret").replace("//", "//secret:secret@");
        client.get(&secrets).header("cookie", "a=secret").send().await.unwrap();
        client.get(&url("/panics")).send().await.unwrap();
        let (up, pending) = client.post(&url("/")).open().await.unwrap();
        up.finish().await.unwrap();
        pending.response().await.unwrap();
        let never = url("/never");
        tokio::select! {
            _ = client.get(&never).send() => panic!("there is no answer"),
            () = tokio::task::yield_now() => {}
        }
        let nobody = format!("http://secret:secret@{nobody}/?token=secret#secret");
        client.get(&nobody).header("authorization", "secret").send().await.err().unwrap();
    }
    // What begins like TLS and is none.
    let mut socket = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.write_all(b"\x16\x03\x01\x00\x05hello").await.unwrap();
    let _ = socket.read_to_end(&mut Vec::new()).await;
    port
}
