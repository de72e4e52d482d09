//! For how long a client keeps a connection of HTTP/1.1: as long as it likes, and no longer than its server
//! has stated (`keep-alive`).

use std::pin::pin;
use std::task::{Context, Waker};

use alula::{Client, Limits};

use super::*;

/// Answers with the terms that the request names, and tells the port of the peer, which is another one on
/// each connection.
async fn keep(exchange: Exchange) -> Result<Sent, Error> {
    let terms = exchange.request().headers().get("x-terms").unwrap_or_default().to_vec();
    let port = exchange.peer().port().to_string();
    let mut answer = exchange.respond(Status::OK);
    for terms in terms.split(|byte| *byte == b'|').filter(|terms| !terms.is_empty()) {
        answer = answer.header("keep-alive", terms);
    }
    answer.send(port).await
}

/// A server that keeps connections for longer than any client.
fn keeping() -> TestServer {
    let limits = Limits { idle_timeout: Duration::from_secs(100_000), ..Limits::default() };
    TestServer::with(Server::builder().limits(limits), keep)
}

/// Asks with these terms, and returns the number of the connection.
async fn ask(client: &Client, terms: &str) -> u16 {
    let call = client.get("http://test/").header("x-terms", terms);
    let port = call.send().await.unwrap().text().await.unwrap();
    port.parse::<u16>().unwrap() - 49151
}

/// Returns true if the connection is used again after it has been idle for this long under these terms.
async fn is_kept(terms: &str, idle: Duration) -> bool {
    let client = keeping().client();
    assert_eq!(ask(&client, terms).await, 1);
    tokio::time::sleep(idle).await;
    ask(&client, terms).await == 1
}

/// One row is (terms, the milliseconds of the longest idle time after which the connection is used again).
#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_for_a_second_less_than_its_server_states() {
    for (terms, longest) in [
        ("timeout=5", 4_000),
        ("timeout=5, max=100", 4_000),
        ("max=100, Timeout = 5", 4_000),
        ("timeout=\"5\"", 4_000),
        ("timeout=2", 1_000),
        ("timeout=1", 500),
        // The least of several stands, in one field or two.
        ("timeout=9, timeout=5", 4_000),
        ("timeout=5|timeout=9", 4_000),
        // A client keeps none for more than 90 seconds.
        ("timeout=99999999999999999999999", 90_000),
        ("timeout=1000", 90_000),
        ("", 90_000),
        // These say nothing.
        ("timeout=-5", 90_000),
        ("timeout=five", 90_000),
        ("timeout=", 90_000),
        ("timeout", 90_000),
        ("5", 90_000),
        ("xtimeout=5", 90_000),
    ] {
        // The client looks for idle connections now and then.
        let slack = if longest == 90_000 { 3_000 } else { 10 };
        assert!(is_kept(terms, Duration::from_millis(longest - slack)).await, "{terms}: closed too early");
        assert!(!is_kept(terms, Duration::from_millis(longest + slack)).await, "{terms}: kept too long");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_its_server_does_not_keep_is_not_used_again() {
    for terms in ["timeout=0", "max=0", "timeout=5, max=0", "max=\"0\""] {
        assert!(!is_kept(terms, Duration::ZERO).await, "{terms}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_closes_the_connection_itself_when_the_stated_time_is_over() {
    let server = keeping();
    let client = server.client();
    ask(&client, "timeout=5").await;
    tokio::time::sleep(Duration::from_millis(4_010)).await;
    let ended = tokio::time::timeout(Duration::from_millis(10), server.server().all_ended()).await;
    assert!(ended.is_ok(), "the server still has the connection");
}

/// Nothing runs between the end of the time and the next request: neither timers nor the task of the
/// connection.
#[tokio::test(start_paused = true)]
async fn the_time_is_looked_at_before_a_connection_is_used() {
    let server = keeping();
    let client = server.client();
    assert_eq!(ask(&client, "timeout=5").await, 1);
    let passes = pin!(tokio::time::advance(Duration::from_secs(5)));
    let _ = passes.poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(ask(&client, "timeout=5").await, 2);
}

#[tokio::test(start_paused = true)]
async fn the_requests_that_are_left_are_counted() {
    let server = keeping();
    let client = server.client();
    // A server that states it once has one more request, and then another connection.
    assert_eq!([ask(&client, "max=2").await, ask(&client, "").await, ask(&client, "").await], [1, 1, 1]);
    assert_eq!(ask(&client, "").await, 2);
    // One that counts down states the same thing with each answer.
    for (terms, connection) in [("max=2", 2), ("max=1", 2), ("max=0", 2), ("", 3)] {
        assert_eq!(ask(&client, terms).await, connection, "{terms}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_begins_anew_with_each_answer_and_is_the_one_that_was_stated_last() {
    let server = keeping();
    let client = server.client();
    for _ in 0..5 {
        assert_eq!(ask(&client, "timeout=5").await, 1);
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    assert_eq!(ask(&client, "timeout=50").await, 1);
    tokio::time::sleep(Duration::from_secs(48)).await;
    // An answer without terms leaves those that were stated before.
    assert_eq!(ask(&client, "").await, 1);
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(ask(&client, "").await, 2);
}
