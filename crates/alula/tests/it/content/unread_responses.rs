//! Responses that a program holds and does not read: what they take from the calls beside them, and that no
//! call waits for ever.
//!
//! A hundred of them over HTTP/1.1 took all connections that a client has to an origin, and every other call
//! waited without end. Four of them over HTTP/2 took the whole window of the connection, with the same
//! effect.

use std::{future::Future, sync::LazyLock, time::Duration};

use alula::{
    Cause, Client, Error, Exchange, Limits, Occupied, Phase, Response, Sent, Server, Status, blocking,
};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;

/// No call takes that long.
const PATIENCE: Duration = Duration::from_secs(20);
/// What is to end soon ends after so long.
const SOON: Duration = Duration::from_millis(80);
const SECOND: Duration = Duration::from_secs(1);
const MIB: u64 = 1024 * 1024;

/// The server's runtime: its clock goes on where that of a test stands still.
static SERVERS: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

static URL: LazyLock<String> = LazyLock::new(|| {
    let _entered = SERVERS.enter();
    let (tell, told) = std::sync::mpsc::channel();
    SERVERS.spawn(async move {
        // It does not mind how slow its clients are.
        let limits = Limits { body_rate_min: 0, stall_timeout: 3600 * SECOND, ..Limits::default() };
        let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
        tell.send(format!("http://{}", server.address().unwrap())).unwrap();
        server.serve(answer).await
    });
    told.recv().unwrap()
});

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path() {
        // As much as a connection of HTTP/1.1 holds for those who do not read it.
        "/full" => {
            exchange.respond(Status::OK).send(&vec![b'a'; Limits::client().stream_window as usize]).await
        }
        "/large" => exchange.respond(Status::OK).send(&vec![b'a'; 8 * MIB as usize]).await,
        _ => exchange.respond(Status::OK).send(b"done").await,
    }
}

/// So many responses that nobody reads.
async fn hold(client: &Client, count: usize) -> Vec<Response> {
    let url = format!("{}/large", *URL);
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(in_time(client.get(&url).send()).await.expect("a head needs no window"));
    }
    held
}

async fn ask(client: &Client) -> Result<(), Error> {
    let mut response = client.get(&*URL).send().await?;
    assert_eq!(response.bytes().await?, &b"done"[..]);
    Ok(())
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.expect("a call hangs")
}

/// Lets everything happen that needs no waiting.
async fn let_run() {
    for _ in 0..50 {
        yield_now().await;
    }
}

fn assert_is_queued(error: &Error, occupied: Occupied) {
    assert!(matches!(error.cause(), Cause::Timeout) && error.phase() == Phase::Queue, "{error}");
    assert!(error.is_retryable() && error.is_timeout(), "{error}");
    assert_eq!(error.occupied(), Some(occupied), "{error}");
}

fn unread(count: u32) -> Occupied {
    let mut occupied = Occupied::default();
    occupied.unread = count;
    occupied
}

fn unsent(count: u32) -> Occupied {
    let mut occupied = Occupied::default();
    occupied.unsent = count;
    occupied
}

#[tokio::test]
async fn a_call_that_finds_all_connections_held_is_told_by_what_after_30_s() {
    let client = Client::builder().no_proxy().build().unwrap();
    let mut held = hold(&client, 100).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { ask(&client).await }
    });
    let_run().await;
    tokio::time::pause();
    tokio::time::advance(29 * SECOND).await;
    let_run().await;
    assert!(!waiting.is_finished(), "it gives the others time to end");
    tokio::time::advance(2 * SECOND).await;
    let_run().await;
    assert!(waiting.is_finished(), "it waits without end");
    tokio::time::resume();
    let error = waiting.await.unwrap().expect_err("there is no connection");
    assert_is_queued(&error, unread(100));
    assert!(error.to_string().contains("100 responses from this origin are unread"), "{error}");
    held.pop();
    in_time(ask(&client)).await.expect("one is free now");
}

#[tokio::test]
async fn who_wants_to_wait_for_ever_may() {
    let client = Client::builder().no_proxy().connections_max(1).queue_timeout(Duration::MAX);
    let client = client.build().unwrap();
    let held = hold(&client, 1).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { ask(&client).await }
    });
    let_run().await;
    tokio::time::pause();
    tokio::time::advance(3600 * SECOND).await;
    let_run().await;
    assert!(!waiting.is_finished());
    tokio::time::resume();
    drop(held);
    in_time(waiting).await.unwrap().expect("it has its turn");
}

#[tokio::test]
async fn a_deadline_of_the_call_says_what_is_held_as_well() {
    let client = Client::builder().no_proxy().connections_max(2).build().unwrap();
    let _held = hold(&client, 2).await;
    let error = in_time(client.get(&*URL).timeout(SOON).send()).await.expect_err("there is no connection");
    assert_is_queued(&error, unread(2));
    let prepared = client.prepare(alula::Method::Get, &*URL).unwrap().build().unwrap();
    let error = in_time(client.call(&prepared).timeout(SOON).send()).await.expect_err("nor for this one");
    assert_is_queued(&error, unread(2));
}

#[tokio::test]
async fn retries_wait_for_a_connection_as_well_and_say_what_is_held() {
    let client = Client::builder().no_proxy().connections_max(1).queue_timeout(SOON);
    let client = client.retries(alula::Retries::new(2).backoff(SOON, SOON)).build().unwrap();
    let _held = hold(&client, 1).await;
    let error = in_time(client.get(&*URL).send()).await.expect_err("there is no connection");
    assert_is_queued(&error, unread(1));
}

#[tokio::test]
async fn streams_that_the_server_allows_no_more_of_are_bounded_as_well() {
    let client = Client::builder().no_proxy().http2_prior_knowledge(true).queue_timeout(SOON);
    let client = client.build().unwrap();
    let _held = hold(&client, 100).await;
    let error = in_time(ask(&client)).await.expect_err("the server allows a hundred");
    assert_is_queued(&error, unread(100));
}

#[tokio::test]
async fn an_upload_that_stalls_is_what_holds_the_connection() {
    let client = Client::builder().no_proxy().connections_max(1).queue_timeout(SOON).build().unwrap();
    let (_writer, _pending) = client.post(&*URL).open().await.unwrap();
    let error = in_time(ask(&client)).await.expect_err("there is no connection");
    assert_is_queued(&error, unsent(1));
    assert!(error.to_string().contains("1 request to this origin is not sent to its end"), "{error}");
}

/// Through a proxy requests in clear text go over connections to the proxy, which are the origin's.
#[tokio::test]
async fn connections_through_a_proxy_are_bounded_as_well() {
    let proxy = alula::Proxy::all(&URL).unwrap();
    let client = Client::builder().proxy(proxy).connections_max(1).queue_timeout(SOON).build().unwrap();
    let url = "http://some.example/large";
    let _held = in_time(client.get(url).send()).await.expect("the proxy answers itself");
    let error = in_time(client.get(url).send()).await.expect_err("there is no connection");
    assert_is_queued(&error, unread(1));
}

#[test]
fn a_blocking_client_does_not_wait_for_ever_either() {
    let client = Client::builder().no_proxy().connections_max(1).queue_timeout(SOON);
    let client: blocking::Client = client.build_blocking().unwrap();
    let large = format!("{}/large", *URL);
    let held = client.get(&large).send().unwrap();
    let error = client.get(&*URL).send().expect_err("there is no connection");
    assert_is_queued(&error, unread(1));
    drop(held);
    client.get(&*URL).send().expect("one is free now");
}

#[tokio::test]
async fn content_that_nobody_reads_stops_no_other_call_on_the_connection() {
    let client = Client::builder().no_proxy().http2_prior_knowledge(true).build().unwrap();
    // 256 KiB each.
    let held = hold(&client, 60).await;
    for arrived in [MIB, 15 * MIB] {
        in_time(async {
            while client.ledger().memory_held() < arrived {
                yield_now().await;
            }
        })
        .await;
        in_time(ask(&client)).await.expect("there is room beside them");
    }
    drop(held);
    in_time(ask(&client)).await.expect("the window is given back");
}

#[tokio::test]
async fn who_waits_for_a_window_that_others_hold_is_told_so() {
    let client = Client::builder().no_proxy().http2_prior_knowledge(true).queue_timeout(SOON);
    let client = client.build().unwrap();
    let mut held = hold(&client, 64).await;
    in_time(async {
        while client.ledger().memory_held() < 16 * MIB {
            yield_now().await;
        }
    })
    .await;
    let error = in_time(ask(&client)).await.expect_err("there is no room");
    assert!(matches!(error.cause(), Cause::Timeout) && error.phase() == Phase::Content, "{error}");
    assert!(error.to_string().contains("64 responses from this origin are unread"), "{error}");
    held.truncate(1);
    in_time(ask(&client)).await.expect("there is room again");
}

/// A whole response that nobody reads leaves its connection of HTTP/1.1 no room for the head of the next one.
#[tokio::test]
async fn a_connection_that_holds_all_it_may_takes_no_request_until_it_is_read() {
    let full = format!("{}/full", *URL);
    for _ in 0..20 {
        let client = Client::builder().connections_max(1).queue_timeout(SOON).build().unwrap();
        let mut held = in_time(client.get(&full).send()).await.unwrap();
        // All of it has come then, and the exchange is over.
        tokio::time::sleep(SOON / 4).await;
        assert_is_queued(&in_time(ask(&client)).await.unwrap_err(), unread(1));
        let waiting = async {
            let_run().await;
            held.bytes().await.map(|content| content.len())
        };
        let (asked, read) = in_time(async { tokio::join!(ask(&client), waiting) }).await;
        assert_eq!(read.unwrap(), Limits::client().stream_window as usize);
        asked.expect("the connection is free again");
        let _held = in_time(client.get(&full).send()).await.unwrap();
    }
}
