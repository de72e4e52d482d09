//! HTTP/1.1, both ends: what the client asks, the server answers, and how often they connect.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use alula::{Client, Error, Exchange, FieldSection, Method, Sent, Server, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::support::listen;

const PATIENCE: Duration = Duration::from_secs(10);

/// Answers with what it is asked for.
async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path() {
        "/echo" => {
            let content = exchange.body().bytes_max(1 << 24).await?;
            exchange.respond(Status::OK).send(&content).await
        }
        "/stream" => {
            let (_, mut body, responder) = exchange.split();
            let mut writer = responder.respond(Status::OK).stream().await?;
            while let Some(chunk) = body.chunk().await? {
                writer.write(chunk).await?;
            }
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "7")?;
            writer.finish_with(&trailers).await
        }
        "/ignore" => exchange.respond(Status::NO_CONTENT).send(b"").await,
        path => {
            let text = format!("{} {path}", exchange.request().method());
            exchange.respond(Status::OK).header("x-seen", "yes").send(text.as_bytes()).await
        }
    }
}

async fn start() -> (String, Arc<AtomicUsize>) {
    let inner = listen(Server::builder(), answer).await;
    // Counts the connections on their way.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counter = count.clone();
    tokio::spawn(async move {
        loop {
            let (mut from, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, Relaxed);
            tokio::spawn(async move {
                let mut to = TcpStream::connect(inner).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    (format!("http://{address}"), count)
}

async fn text(client: &Client, url: &str) -> String {
    let mut response = timeout(PATIENCE, client.get(url).send()).await.unwrap().unwrap();
    assert_eq!(response.status(), Status::OK);
    let mut content = Vec::new();
    while let Some(chunk) = timeout(PATIENCE, response.body().chunk()).await.unwrap().unwrap() {
        content.extend_from_slice(chunk);
    }
    String::from_utf8(content).unwrap()
}

#[tokio::test]
async fn requests_follow_each_other_on_one_connection() {
    let (origin, connections) = start().await;
    let client = Client::new().unwrap();
    for round in 0..50 {
        assert_eq!(text(&client, &format!("{origin}/{round}")).await, format!("GET /{round}"));
    }
    assert_eq!(connections.load(Relaxed), 1);
}

#[tokio::test]
async fn requests_at_once_have_connections_of_their_own_up_to_the_limit() {
    let (origin, connections) = start().await;
    let client = Client::builder().connections_max(5).build().unwrap();
    let calls = (0..200).map(|call| {
        let (client, url) = (client.clone(), format!("{origin}/{call}"));
        tokio::spawn(async move { assert_eq!(text(&client, &url).await, format!("GET /{call}")) })
    });
    for call in calls.collect::<Vec<_>>() {
        timeout(PATIENCE, call).await.unwrap().unwrap();
    }
    assert!((1..=5).contains(&connections.load(Relaxed)), "{connections:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_one_connection_for_all_every_call_has_its_turn() {
    let (origin, connections) = start().await;
    let client = Client::builder().connections_max(1).build().unwrap();
    let calls = (0..16).map(|caller| {
        let (client, origin) = (client.clone(), origin.clone());
        tokio::spawn(async move {
            for round in 0..200 {
                let url = format!("{origin}/{caller}/{round}");
                assert_eq!(text(&client, &url).await, format!("GET /{caller}/{round}"));
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        timeout(3 * PATIENCE, call).await.unwrap().unwrap();
    }
    assert_eq!(connections.load(Relaxed), 1);
}

#[test]
fn connections_that_go_with_their_runtime_make_room_for_others() {
    let client = Client::builder().connections_max(1).build().unwrap();
    let servers = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (origin, _) = servers.block_on(start());
    for round in 0..5 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let url = format!("{origin}/{round}");
        assert_eq!(runtime.block_on(text(&client, &url)), format!("GET /{round}"));
    }
}

#[tokio::test]
async fn content_goes_both_ways_by_length_and_in_chunks() {
    let (origin, connections) = start().await;
    let client = Client::new().unwrap();
    let content: Vec<u8> = (0..3_000_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
    for bytes in [0, 1, 1000, 65_536, 3_000_000] {
        let url = format!("{origin}/echo");
        let sent = client.post(&url).send_body(&content[..bytes]);
        let mut response = timeout(PATIENCE, sent).await.unwrap().unwrap();
        let mut back = Vec::new();
        timeout(PATIENCE, response.body().copy_to(&mut back)).await.unwrap().unwrap();
        assert!(back == content[..bytes], "{bytes}");
    }
    let url = format!("{origin}/stream");
    let (mut writer, pending) = client.post(&url).open().await.unwrap();
    let sending = tokio::spawn({
        let content = content.clone();
        async move {
            for piece in content.chunks(70_001) {
                writer.write(piece).await.unwrap();
            }
            writer.finish().await.unwrap();
        }
    });
    let mut response = timeout(PATIENCE, pending.response()).await.unwrap().unwrap();
    let mut back = Vec::new();
    timeout(PATIENCE, response.body().copy_to(&mut back)).await.unwrap().unwrap();
    assert!(back == content);
    let trailers = response.body().trailers().await.unwrap().unwrap();
    assert_eq!(trailers.get("x-sum"), Some(&b"7"[..]));
    sending.await.unwrap();
    assert_eq!(connections.load(Relaxed), 1);
}

#[tokio::test]
async fn prepared_requests_go_over_either_version() {
    let (origin, _) = start().await;
    for prior_knowledge in [false, true] {
        let client = Client::builder().http2_prior_knowledge(prior_knowledge).build().unwrap();
        let mut prepare = client.prepare(Method::Get, &format!("{origin}/")).unwrap();
        let hole = prepare.hole("x-round").unwrap();
        let prepared = prepare.build().unwrap();
        for round in ["/a", "/b", "/c"] {
            let call = client.call(&prepared).path(round).set(hole, b"1");
            let mut response = timeout(PATIENCE, call.send()).await.unwrap().unwrap();
            let mut back = Vec::new();
            response.body().copy_to(&mut back).await.unwrap();
            assert_eq!(String::from_utf8(back).unwrap(), format!("GET {round}"));
        }
    }
}

#[tokio::test]
async fn a_client_that_waits_is_told_to_go_on() {
    let (origin, _) = start().await;
    let client = Client::new().unwrap();
    for (path, status) in [("/echo", Status::OK), ("/ignore", Status::NO_CONTENT)] {
        let url = format!("{origin}{path}");
        let call = client.post(&url).header("expect", "100-continue");
        let response = timeout(PATIENCE, call.send_body(b"0123456789")).await.unwrap().unwrap();
        assert_eq!(response.status(), status, "{path}");
    }
}

/// What a server says to these bytes, until it closes.
async fn raw(bytes: &[u8]) -> String {
    let address = listen(Server::builder(), answer).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    let mut back = Vec::new();
    timeout(PATIENCE, socket.read_to_end(&mut back)).await.unwrap().unwrap();
    let text = String::from_utf8(back).unwrap();
    // The date differs.
    text.split_inclusive("\r\n").filter(|line| !line.starts_with("Date: ")).collect()
}

#[tokio::test]
async fn requests_that_come_at_once_are_answered_in_order() {
    let mut bytes = b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20);
    bytes.extend_from_slice(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    bytes.extend_from_slice(b"GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /3");
    let one = "HTTP/1.1 200 OK\r\nX-Seen: yes\r\nContent-Length: 6\r\n\r\nGET /1".repeat(20);
    let echo = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let last = "HTTP/1.1 200 OK\r\nX-Seen: yes\r\nContent-Length: 6\r\nConnection: close\r\n\r\nGET /2";
    assert_eq!(raw(&bytes).await, [&*one, echo, last].concat());
}

#[tokio::test]
async fn what_breaks_a_rule_is_answered_and_the_connection_closed() {
    for (bytes, answer) in [
        ("GET / HTTP/1.1\r\n\r\n", "400 Bad Request"),
        ("GET / HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "400 Bad Request",
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501 Not Implemented"),
    ] {
        let expected = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        assert_eq!(raw(bytes.as_bytes()).await, expected);
    }
}

#[tokio::test]
async fn http_1_0_is_answered_in_its_ways() {
    assert_eq!(
        raw(b"GET /x HTTP/1.0\r\n\r\n").await,
        "HTTP/1.1 200 OK\r\nX-Seen: yes\r\nContent-Length: 6\r\nConnection: close\r\n\r\nGET /x"
    );
    let chunked = "POST /stream HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(raw(chunked.as_bytes()).await, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi");
}
