//! Calls that wait: from several threads, inside runtimes, over connections that ended while nobody called.

#[cfg(target_os = "linux")]
use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use alula::blocking::{Client, Response};
use alula::{Cause, Error, Exchange, FieldSection, Sent, Server, Status};
use tokio::{runtime::Runtime, sync::Notify};

/// Longer than any step of a test takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server with a runtime of its own: dropping it closes everything at once, without a word to anybody.
struct Running {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Running {
    fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    fn start_at(address: SocketAddr) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(Server::bind(address)).unwrap();
        let address = server.address().unwrap();
        runtime.spawn(server.serve(answer));
        Self { address, _runtime: runtime }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// What a test and the handlers tell each other, by the number in the path.
#[derive(Default)]
struct Signs {
    arrived: Notify,
    go_on: Notify,
    given_up: Notify,
}

static SIGNS: LazyLock<[Signs; 8]> = LazyLock::new(Default::default);

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    let (path, number) = path.split_once('?').unwrap_or((&path, "0"));
    let signs = &SIGNS[number.parse::<usize>().unwrap()];
    match path {
        "/held" => {
            signs.arrived.notify_one();
            signs.go_on.notified().await;
            exchange.respond(Status::OK).send(b"held").await
        }
        "/echo" => {
            let content = exchange.body().bytes().await?;
            let trailers = exchange.body().trailers().await?.cloned();
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(&content).await?;
            match trailers {
                Some(trailers) => writer.finish_with(&trailers).await,
                None => writer.finish().await,
            }
        }
        "/stream" => {
            let (_, mut body, responder) = exchange.split();
            let mut writer = responder.respond(Status::OK).stream().await?;
            while let Some(chunk) = body.chunk().await? {
                writer.write(chunk).await?;
            }
            writer.finish().await
        }
        "/endless" => {
            let given_up = Tells(&signs.given_up);
            // Else the server itself would give up after a while.
            exchange.allow_slow_peer();
            let mut writer = exchange.respond(Status::OK).stream().await?;
            while writer.write(&[b'x'; 4096]).await.is_ok() {}
            drop(given_up);
            Err(Error::usage("nobody reads"))
        }
        "/none" => exchange.respond(Status::NOT_FOUND).send(b"There is nothing.").await,
        "/moved" => exchange.respond(Status::FOUND).header("location", "/none").send(b"").await,
        _ => exchange.respond(Status::OK).send(b"Hello, World!").await,
    }
}

/// Tells that a handler has ended, also when it was dropped.
struct Tells(&'static Notify);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Waits without a runtime of its own that a client could be inside of.
fn wait_for(sign: &Notify) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime
        .block_on(async { tokio::time::timeout(PATIENCE, sign.notified()).await })
        .expect("the sign comes");
}

fn clients() -> [Client; 2] {
    [false, true].map(|http2| Client::builder().http2_prior_knowledge(http2).build_blocking().unwrap())
}

fn text(mut response: Response) -> String {
    response.text().unwrap()
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    matches!(result.map_err(|error| error.cause().clone()), Err(Cause::Usage(rule)) if rule.contains("tokio runtime"))
}

#[test]
fn requests_go_out_and_content_comes_in() {
    let server = Running::start();
    for client in clients() {
        assert_eq!(text(client.get(&server.url("/")).send().unwrap()), "Hello, World!");
        let mut response = client.post(&server.url("/echo")).send_body(b"some content").unwrap();
        let mut copy = Vec::new();
        assert_eq!(response.body().copy_to(&mut copy).unwrap(), 12);
        assert_eq!((&*copy, response.body().is_ended()), (&b"some content"[..], true));

        let (mut up, pending) = client.post(&server.url("/echo")).header("trailer", "x-sum").open().unwrap();
        (0..100).for_each(|_| up.write_all(&[b'y'; 1000]).unwrap());
        up.finish_with(&FieldSection::from_pairs([("x-sum", "100")]).unwrap()).unwrap();
        let mut response = pending.response().unwrap();
        assert_eq!(response.body().read_to_end(&mut copy).unwrap(), 100_000);
        assert_eq!(response.body().trailers().unwrap().unwrap().get("x-sum"), Some(&b"100"[..]));
    }
}

/// The caller waited for the server, and the server for the reader of its response.
#[test]
fn content_is_sent_while_the_response_is_read() {
    let server = Running::start();
    let bytes: Vec<u8> = (0..10_000_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
    for client in clients() {
        let mut response = client.post(&server.url("/stream")).send_body(&bytes).unwrap();
        assert!(response.bytes_max(bytes.len()).unwrap() == bytes);
    }
}

#[test]
fn responses_tell_what_led_to_them() {
    let server = Running::start();
    for client in clients() {
        let mut response = client.get(&server.url("/")).timed().send().unwrap().error_for_status().unwrap();
        assert_eq!((response.redirects(), response.final_url()), (0, None));
        response.bytes().unwrap();
        let timing = response.timing().unwrap();
        assert!(timing.head <= timing.end.unwrap() && !timing.is_reused());

        let error = client.get(&server.url("/moved")).send().unwrap().error_for_status().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("GET {}: the server answered 404 Not Found", server.url("/none"))
        );
        assert_eq!(error.response().final_url(), Some(&*server.url("/none")));
        assert_eq!((error.response().redirects(), error.response().timing().is_none()), (1, true));
        assert_eq!(text(error.into_response()), "There is nothing.");
    }
}

#[test]
fn a_deadline_passes_within_reads_as_well() {
    let server = Running::start();
    let url = server.url("/held?5");
    for client in clients() {
        assert!(client.get(&url).timeout(Duration::from_millis(20)).send().err().unwrap().is_timeout());
    }
}

#[test]
fn inside_a_runtime_it_refuses_and_may_be_dropped() {
    let server = Running::start();
    let outside = Client::new().unwrap();
    let response = outside.get(&server.url("/endless?1")).send().unwrap();
    let (writer, pending) = outside.post(&server.url("/echo")).open().unwrap();
    Runtime::new().unwrap().block_on(async move {
        assert!(is_refused(outside.get(&server.url("/")).send()));
        let inside = Client::new().unwrap();
        assert!(is_refused(inside.get(&server.url("/")).send()));
        let url = server.url("/");
        let on_its_thread = tokio::task::spawn_blocking(move || is_refused(inside.get(&url).send()));
        assert!(on_its_thread.await.unwrap());
        assert!(is_refused(writer.finish()));
        assert!(is_refused(pending.response()));
        drop((response, outside));
        // The runtime of the server does not like to be dropped here.
        tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
    });
}

/// One thread drives while the other waits; whichever has its answer first, the other gets its own.
#[test]
fn threads_that_share_a_client_drive_in_turn() {
    let server = Running::start();
    for client in clients() {
        // Who came first drives: it is let go first, then last.
        for first_to_end in [2, 3] {
            let answers = [2, 3].map(|number| ask_and_hold(&client, &server, number));
            for number in [first_to_end, 5 - first_to_end] {
                SIGNS[number].go_on.notify_one();
                assert_eq!(answers[number - 2].recv_timeout(PATIENCE).expect("it gets its answer"), "held");
            }
        }
    }
}

/// A request from a thread of its own, which has reached its handler and waits there; and its answer, in
/// time.
fn ask_and_hold(client: &Client, server: &Running, number: usize) -> mpsc::Receiver<String> {
    let (client, url) = (client.clone(), server.url(&format!("/held?{number}")));
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(text(client.get(&url).send().unwrap())));
    wait_for(&SIGNS[number].arrived);
    told
}

#[test]
fn what_is_dropped_is_given_up_at_once() {
    let server = Running::start();
    for client in clients() {
        let response = client.get(&server.url("/endless?4")).send().unwrap();
        drop(response);
        wait_for(&SIGNS[4].given_up);
    }
}

/// Waits until the system has told all who are connected to a server that it is gone.
#[cfg(target_os = "linux")]
fn wait_for_ends(server: SocketAddr) {
    let (began, peer) = (Instant::now(), format!(":{:04X}", server.port()));
    let is_open = |line: &str| {
        let mut words = line.split_whitespace().skip(2);
        words.next().is_some_and(|address| address.ends_with(&peer)) && words.next() == Some(ESTABLISHED)
    };
    while fs::read_to_string("/proc/net/tcp").unwrap().lines().any(is_open) {
        assert!(began.elapsed() < PATIENCE, "the connections end");
        thread::yield_now();
    }
}

/// The state of a connection in `/proc/net/tcp`.
#[cfg(target_os = "linux")]
const ESTABLISHED: &str = "01";

/// A POST is not sent again by itself, so it must not go out on a connection that has ended. The first server
/// ends without a word; another takes its place.
#[cfg(target_os = "linux")]
#[test]
fn a_connection_that_ended_while_nobody_called_is_not_used() {
    for client in clients() {
        let mut server = Running::start();
        for _ in 0..20 {
            let url = server.url("/echo");
            assert_eq!(text(client.post(&url).send_body(b"again").unwrap()), "again");
            let address = server.address;
            drop(server);
            wait_for_ends(address);
            server = Running::start_at(address);
        }
    }
}

/// A second `text()` gave empty content, as if the server had sent none.
#[test]
fn content_that_was_taken_is_not_taken_again() {
    let server = Running::start();
    let client = Client::new().unwrap();
    let take = |response: &mut Response, way| match way {
        0 => response.bytes().map(drop).map_err(|error| error.to_string()),
        1 => response.text().map(drop).map_err(|error| error.to_string()),
        _ => response.body().copy_to(&mut std::io::sink()).map(drop).map_err(|error| error.to_string()),
    };
    for (first, second) in (0..3).flat_map(|first| (0..3).map(move |second| (first, second))) {
        let mut response = client.get(server.url("/")).send().unwrap();
        take(&mut response, first).unwrap();
        let error = take(&mut response, second).unwrap_err();
        assert!(error.contains("was taken already"), "{first} {second}: {error}");
    }
}

/// A server that counts its connections, tells the number in its answers, and says on which terms it keeps
/// them.
fn stating(terms: &'static str) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, socket) in (1..).zip(listener.incoming()) {
            let mut socket = socket.unwrap();
            thread::spawn(move || {
                let mut request = [0; 4096];
                while socket.read(&mut request).is_ok_and(|bytes| bytes > 0) {
                    let head = format!("HTTP/1.1 200 OK\r\nkeep-alive: {terms}\r\ncontent-length: 1\r\n\r\n");
                    socket.write_all(format!("{head}{number}").as_bytes()).unwrap();
                }
            });
        }
    });
    address
}

/// Nobody drives a blocking client between two calls: the time is looked at before a connection is used
/// again.
#[test]
fn a_connection_is_not_used_beyond_the_terms_of_its_server() {
    for (terms, idle, again) in [
        ("timeout=60", Duration::ZERO, "1"),
        ("timeout=0", Duration::ZERO, "2"),
        ("max=0", Duration::ZERO, "2"),
        // Half a second less, which is over for certain then.
        ("timeout=1", Duration::from_millis(501), "2"),
    ] {
        let client = Client::builder().build_blocking().unwrap();
        let url = format!("http://{}/", stating(terms));
        assert_eq!(client.get(&url).send().unwrap().text().unwrap(), "1", "{terms}");
        let (_says_nothing, nothing) = mpsc::channel::<()>();
        nothing.recv_timeout(idle).unwrap_err();
        assert_eq!(client.get(&url).send().unwrap().text().unwrap(), again, "{terms}");
    }
}
