//! Requests that fail on a server are told of: to its hook, to `tracing`, and in debug builds to the standard
//! error stream.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use alula::{
    Body, Client, Error, Exchange, FailureCause, Fault, RequestFailure, Sent, Server, ServerBuilder, Status,
    Version, from_tower,
};
use bytes::Bytes;

/// The failures that the hook heard, one line for each.
type Heard = Arc<Mutex<Vec<String>>>;

/// A server whose hook notes what it hears.
fn hearing() -> (ServerBuilder, Heard) {
    let heard = Heard::default();
    let hears = heard.clone();
    let note = move |failure: &RequestFailure<'_>| {
        let kind = match failure.cause() {
            FailureCause::Error(_) => "error",
            FailureCause::Panic(_) => "panic",
            FailureCause::Refused(_) => "refused",
            _ => "other",
        };
        assert!(failure.peer().ip().is_loopback());
        let about = format!("{} {} {:?} {kind}", failure.method(), failure.target(), failure.version());
        hears.lock().unwrap().push(format!("{about} {:?}: {failure}", failure.fault()));
    };
    (Server::builder().on_error(note), heard)
}

async fn start(builder: ServerBuilder) -> SocketAddr {
    let server = builder.bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(fail));
    address
}

/// Fails in the way that the path names.
async fn fail(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path().split('?').next().unwrap() {
        "/work" => Err(Error::other(io::Error::other("the disk is full"))),
        "/field" => exchange.respond(Status::OK).header("bad name", "x").send(b"").await,
        "/digits" => exchange.respond(Status::OK).header("content-length", "four").send(b"four").await,
        "/length" => exchange.respond(Status::OK).header("content-length", "3").send(b"four").await,
        "/status" => exchange.respond(Status::CONTINUE).send(b"").await,
        "/panic" => panic!("as it was asked to"),
        "/midway" => {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(b"some").await?;
            Err(Error::other("the rest is gone"))
        }
        "/unanswered" => {
            drop(exchange);
            Err(Error::other("nobody answered"))
        }
        _ => exchange.respond(Status::OK).send(b"fine").await,
    }
}

/// Paths, the status that their peer gets, and what is heard.
const ROWS: [(&str, Option<Status>, &str); 8] = [
    ("/work?token=secret", Some(Status::INTERNAL_SERVER_ERROR), "error Caller: GET /work?token=… from"),
    ("/field", Some(Status::INTERNAL_SERVER_ERROR), "bad name"),
    ("/digits", Some(Status::INTERNAL_SERVER_ERROR), "content-length"),
    ("/length", None, "content-length"),
    ("/status", Some(Status::INTERNAL_SERVER_ERROR), "the status cannot be used here"),
    ("/panic", Some(Status::INTERNAL_SERVER_ERROR), "the handler panicked: as it was asked to"),
    ("/midway", None, "the rest is gone"),
    ("/unanswered", Some(Status::INTERNAL_SERVER_ERROR), "nobody answered"),
];

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn the_hook_hears_of_each_failure_with_its_request_and_its_cause() {
    let (builder, heard) = hearing();
    let address = start(builder).await;
    for (version, client) in clients() {
        let ok = client.get(&format!("http://{address}/fine")).send().await.unwrap();
        assert_eq!(ok.status(), Status::OK);
        for (path, status, told) in ROWS {
            let url = format!("http://{address}{path}");
            let answer = client.get(&url).send().await;
            match status {
                Some(status) => assert_eq!(answer.unwrap().status(), status, "{path}"),
                None => assert!(read(answer).await.is_err(), "{path} is broken off"),
            }
            let lines = std::mem::take(&mut *heard.lock().unwrap());
            let [line] = &lines[..] else { panic!("{path}: one failure, not {lines:?}") };
            let target = path.split('?').next().unwrap();
            assert!(line.starts_with(&format!("GET {target}")), "{line}");
            assert!(line.contains(&format!(" {version:?} ")), "{line}");
            assert!(line.contains(told) && !line.contains("secret"), "{line}");
        }
    }
}

async fn read(answer: Result<alula::Response, Error>) -> Result<alula::Bytes, Error> {
    answer?.bytes().await
}

fn clients() -> [(Version, Client); 2] {
    [(Version::Http1, false), (Version::Http2, true)]
        .map(|(version, http2)| (version, Client::builder().http2_prior_knowledge(http2).build().unwrap()))
}

/// A head that is refused before a handler sees it, and a peer that breaks a rule; a flood of them is told of
/// ten times.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn the_hook_hears_of_what_is_refused() {
    let (builder, heard) = hearing();
    let address = start(builder).await;
    let long = format!("GET /?token=secret HTTP/1.1\r\nhost: a\r\na: {}\r\n\r\n", "x".repeat(20_000));
    for (bytes, asked, sentence) in [
        (long.as_str(), "GET /?token=…", "bytes or more; Limits::head_bytes is 16384"),
        (
            "GET / HTTP/1.1\r\n\r\n",
            "GET /",
            "the peer broke HTTP/1.1: a request of HTTP/1.1 without a host (RFC 9112 §3.2)",
        ),
    ] {
        send_bytes(address, bytes).await;
        let lines = std::mem::take(&mut *heard.lock().unwrap());
        let [line] = &lines[..] else { panic!("one refusal, not {lines:?}") };
        assert!(
            line.contains(&format!("refused Peer: {asked} from 127.0.0.1:")) && line.ends_with(sentence),
            "{line}"
        );
        assert!(line.contains(" over HTTP/1.1 was refused: ") && !line.contains("secret"), "{line}");
    }
    // One stream of a connection that goes on: a head of 20,000 bytes, which the server has not said that it
    // takes.
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let url = format!("http://{address}/?token=secret");
    let answer = client.get(&url).header("a", "x".repeat(20_000)).send().await.unwrap();
    assert_eq!(answer.status(), Status::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let lines = std::mem::take(&mut *heard.lock().unwrap());
    let [line] = &lines[..] else { panic!("one refusal, not {lines:?}") };
    assert!(line.contains("over HTTP/2 was refused: ") && !line.contains("secret"), "{line}");
    assert!(line.ends_with("Limits::field_section_bytes is 16384"), "{line}");
    for _ in 0..30 {
        send_bytes(address, "GET / HTTP/1.1\r\n\r\n").await;
    }
    assert!(heard.lock().unwrap().len() < 20, "a flood is told of");
}

/// Sends this and reads until the server has closed.
async fn send_bytes(address: SocketAddr, bytes: &str) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let _ = socket.write_all(bytes.as_bytes()).await;
    let _ = socket.shutdown().await;
    let _ = socket.read_to_end(&mut Vec::new()).await;
}

/// A hook that panics ends nothing.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn a_hook_that_panics_does_no_harm() {
    let address = start(Server::builder().on_error(|_| panic!("of the hook"))).await;
    for (_, client) in clients() {
        for _ in 0..2 {
            let answer = client.get(&format!("http://{address}/work")).send().await.unwrap();
            assert_eq!(answer.status(), Status::INTERNAL_SERVER_ERROR);
        }
    }
}

/// A peer that goes away is no failure of the server's, and one that is too slow is the peer's.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn a_peer_that_is_slow_is_told_apart() {
    let (builder, heard) = hearing();
    let limits = alula::Limits { stall_timeout: Duration::from_millis(50), ..alula::Limits::default() };
    let server = builder.limits(limits).bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", server.address().unwrap());
    tokio::spawn(server.serve(async |mut exchange: Exchange| {
        while exchange.body().chunk().await?.is_some() {}
        exchange.respond(Status::OK).send(b"").await
    }));
    for (_, client) in clients() {
        let (mut writer, pending) = client.post(&url).open().await.unwrap();
        writer.write(b"some").await.unwrap();
        assert!(pending.response().await.map_or(true, |response| response.status() != Status::OK));
        drop(writer);
    }
    let heard = heard.lock().unwrap();
    assert!(heard.iter().all(|line| !line.contains(&format!(" {:?}: ", Fault::Caller))), "{heard:?}");
}

/// The errors of services and their contents are not lost.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn failures_under_a_service_are_told() {
    let (builder, heard) = hearing();
    let server = builder.bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(from_tower(tower::service_fn(serve))));
    for (_, client) in clients() {
        for (path, told) in [
            ("/service", "the service is out of order"),
            ("/content", "the disk is full"),
            ("/content-panic", "the handler panicked: in the content"),
            ("/head", "content-length"),
        ] {
            let answer = client.get(&format!("http://{address}{path}")).send().await;
            let is_whole = answer.is_ok_and(|answer| answer.status() == Status::OK)
                && read(client.get(&format!("http://{address}{path}")).send().await).await.is_ok();
            assert!(!is_whole, "{path}");
            let lines = std::mem::take(&mut *heard.lock().unwrap());
            assert!(!lines.is_empty() && lines.iter().all(|line| line.contains(told)), "{path}: {lines:?}");
        }
    }
}

async fn serve(request: http::Request<Body>) -> Result<http::Response<Pieces>, &'static str> {
    let some = || Some(Ok(Bytes::from_static(b"some")));
    let (first, second) = match request.uri().path() {
        "/service" => return Err("the service is out of order"),
        "/content" => (some(), Some(Err(io::Error::other("the disk is full")))),
        "/content-panic" => (some(), None),
        _ => (some(), some()),
    };
    let mut response = http::Response::new(Pieces(vec![second, first]));
    if request.uri().path() == "/head" {
        response.headers_mut().insert("content-length", http::HeaderValue::from_static("two"));
    }
    Ok(response)
}

/// Pieces of content from the last to the first, one of which may be a failure or, where there is none, a
/// panic.
struct Pieces(Vec<Option<io::Result<Bytes>>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, io::Error>>> {
        let piece = self.0.pop().map(|piece| piece.expect("in the content"));
        Poll::Ready(piece.map(|piece| piece.map(http_body::Frame::data)))
    }
}

/// In a debug build a failure that nobody listens to is one line on the standard error stream; this program
/// runs itself for that.
pub(crate) fn a_debug_build_writes_failures_that_nobody_hears_to_stderr() {
    const CHILD: &str = "ALULA_TEST_FAILS_WITHOUT_A_HOOK";
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(async {
            let address = start(Server::builder()).await;
            for (_, client) in clients() {
                client.get(&format!("http://{address}/work?token=secret")).send().await.unwrap();
            }
        });
    }
    let mut child =
        alula_testkit::again("failures::a_debug_build_writes_failures_that_nobody_hears_to_stderr");
    let output = child.arg("--nocapture").env(CHILD, "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = told.lines().filter(|line| line.starts_with("alula: ")).collect();
    assert_eq!(lines.len(), if cfg!(debug_assertions) { 2 } else { 0 }, "{told}");
    for line in lines {
        assert!(line.starts_with("alula: GET /work?token=… from 127.0.0.1:"), "{line}");
        assert!(line.ends_with(": the disk is full"), "{line}");
    }
}
