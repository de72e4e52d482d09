//! Limits that a server stated before hold on the next connection, until it states those that hold there:
//! without that, 100 streams are opened (RFC 9113 §5.1.2), and those that are too many are refused; and heads
//! are sent that are too large for it.

use std::time::Duration;

use alula::{Client, Error, Status};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::frames::{ACK, CONNECTION, GOAWAY, HEADERS, SETTINGS, frame, ok, read, read_magic, read_request};

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);
const STREAMS: u32 = 2;
const CALLS: u32 = 5;

/// SETTINGS that allow so many streams.
fn settings(streams: u32) -> Vec<u8> {
    frame(SETTINGS, 0, CONNECTION, &[&[0, 3][..], &streams.to_be_bytes()].concat())
}

/// Says at once what it allows, answers one request and goes away.
async fn tell_and_go(socket: &mut TcpStream, settings: &[u8]) {
    read_magic(socket).await;
    socket.write_all(settings).await.unwrap();
    let stream = read_request(socket).await.unwrap();
    while !read(socket).await.unwrap().is_settings(ACK) {}
    let goaway = frame(GOAWAY, 0, CONNECTION, &[stream, [0; 4]].concat());
    socket.write_all(&[ok(stream), goaway].concat()).await.unwrap();
}

/// Says what it allows once so many requests are there; answers all. Gives how many came before the client
/// knew.
async fn tell_late(socket: &mut TcpStream) -> u32 {
    read_magic(socket).await;
    let (mut requests, mut before) = (0, None);
    let mut held = Vec::new();
    while requests < CALLS {
        let frame = read(socket).await.unwrap();
        if frame.is_settings(ACK) {
            before = Some(requests);
            socket.write_all(&std::mem::take(&mut held)).await.unwrap();
        }
        if frame.kind != HEADERS {
            continue;
        }
        requests += 1;
        held.extend(ok(frame.stream));
        match before {
            Some(_) => socket.write_all(&std::mem::take(&mut held)).await.unwrap(),
            None if requests == STREAMS => socket.write_all(&settings(STREAMS)).await.unwrap(),
            None => {}
        }
    }
    before.unwrap_or(requests)
}

#[tokio::test]
async fn no_more_streams_are_opened_than_were_allowed_before() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let server = tokio::spawn(async move {
        let mut first = listener.accept().await.unwrap().0;
        tell_and_go(&mut first, &settings(STREAMS)).await;
        let mut second = listener.accept().await.unwrap().0;
        tell_late(&mut second).await
    });
    let get = |client: Client, url: String| async move {
        let response = timeout(FOREVER, client.get(&url).send()).await.expect("it ends").unwrap();
        assert_eq!(response.status(), Status::OK);
    };
    get(client.clone(), url.clone()).await;
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(get(client.clone(), url.clone()));
    }
    calls.join_all().await;
    assert_eq!(server.await.unwrap(), STREAMS);
}

/// The bytes of a field section that a server takes at first.
const SECTION_BYTES: u32 = 1000;
const LARGE: [u8; 2000] = [b'x'; 2000];

/// SETTINGS that allow field sections of so many bytes, or say nothing.
fn section_settings(bytes: Option<u32>) -> Vec<u8> {
    let entry = bytes.map(|bytes| [&[0, 6][..], &bytes.to_be_bytes()].concat());
    frame(SETTINGS, 0, CONNECTION, &entry.unwrap_or_default())
}

/// Answers one request, which may come at any time. Gives whether it came before the client knew the
/// settings.
async fn answer_one(socket: &mut TcpStream, settings: &[u8]) -> bool {
    read_magic(socket).await;
    socket.write_all(settings).await.unwrap();
    let mut knows = false;
    while let Ok(frame) = read(socket).await {
        if frame.is_settings(ACK) {
            knows = true;
        }
        if frame.kind == HEADERS {
            socket.write_all(&ok(frame.stream)).await.unwrap();
            return !knows;
        }
    }
    false
}

/// Sends a small request, on a connection that ends then, and a large one on the next, whose settings are
/// these. Gives whether the large one was sent before they were known.
async fn send_large(next: Option<u32>, is_prepared: bool) -> (Result<Status, Error>, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let server = tokio::spawn(async move {
        let mut first = listener.accept().await.unwrap().0;
        tell_and_go(&mut first, &section_settings(Some(SECTION_BYTES))).await;
        let mut second = listener.accept().await.unwrap().0;
        answer_one(&mut second, &section_settings(next)).await
    });
    let status = |response: alula::Response| response.status();
    let small = timeout(FOREVER, client.get(&url).send()).await.expect("it ends");
    assert_eq!(small.map(status).unwrap(), Status::OK);
    let sent = async {
        let prepared = client.prepare("GET", &url).unwrap().header("large", LARGE).build().unwrap();
        match is_prepared {
            true => client.call(&prepared).send().await,
            false => client.get(&url).header("large", LARGE).send().await,
        }
    };
    let outcome = timeout(FOREVER, sent).await.expect("it ends").map(status);
    drop(client);
    (outcome, timeout(FOREVER, server).await.expect("it ends").unwrap())
}

#[tokio::test]
async fn a_head_that_was_too_large_before_waits_for_the_settings_that_decide() {
    for is_prepared in [false, true] {
        let (outcome, came_early) = send_large(Some(SECTION_BYTES), is_prepared).await;
        let error = outcome.map_err(|error| error.to_string()).unwrap_err();
        assert!(error.contains("the peer allows 1000") && !came_early, "{error}");
        for grown in [Some(10_000), None] {
            let (outcome, came_early) = send_large(grown, is_prepared).await;
            assert_eq!((outcome.unwrap(), came_early), (Status::OK, false), "{grown:?}");
        }
    }
}

/// Nothing is waited for where it would fit.
#[tokio::test]
async fn a_head_that_fitted_before_is_sent_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let server = tokio::spawn(async move {
        let mut first = listener.accept().await.unwrap().0;
        tell_and_go(&mut first, &section_settings(Some(SECTION_BYTES))).await;
        let mut second = listener.accept().await.unwrap().0;
        // It says nothing before the request is here.
        read_magic(&mut second).await;
        let stream = read_request(&mut second).await.unwrap();
        second.write_all(&[section_settings(None), ok(stream)].concat()).await.unwrap();
        second
    });
    for _ in 0..2 {
        let response = timeout(FOREVER, client.get(&url).send()).await.expect("it ends").unwrap();
        assert_eq!(response.status(), Status::OK);
    }
    server.await.unwrap();
}
