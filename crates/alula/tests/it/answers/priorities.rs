//! Priorities of responses (RFC 9218) through the whole stack, over loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alula::{Client, Error, Exchange, Limits, Response, Sent, Server, Status, h2::Priority};
use tokio::sync::Semaphore;

use crate::support::within;

/// More than the windows of a connection, and the sockets between.
const BYTES: usize = 16 << 20;

/// Answers when it is told to, with much.
async fn answer(exchange: Exchange, gate: Arc<Semaphore>) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    let _all = gate.acquire().await.unwrap();
    for _ in 0..BYTES / 65_536 {
        writer.write(&[7; 65_536]).await?;
    }
    writer.finish().await
}

/// Reads a response to its end, and says how much of the other had arrived then.
async fn read(mut response: Response, mine: &AtomicUsize, other: &AtomicUsize) -> usize {
    while let Some(chunk) = response.body().chunk().await.unwrap() {
        mine.fetch_add(chunk.len(), Ordering::Relaxed);
    }
    assert_eq!(mine.load(Ordering::Relaxed), BYTES);
    other.load(Ordering::Relaxed)
}

/// Two responses at once with these priorities: for each, how much of the other had arrived when it was
/// whole.
async fn race(first: &str, second: &str, then_of_second: Option<Priority>) -> (usize, usize) {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let (url, stop) = (format!("http://{}/", server.address().unwrap()), server.stop_handle());
    let handler_gate = gate.clone();
    tokio::spawn(server.serve(move |exchange| answer(exchange, handler_gate.clone())));
    // The connection's window is what there is not enough of.
    let limits = Limits { stream_window: 32 << 20, connection_window: 256 << 10, ..Limits::default() };
    let client = Client::builder().http2_prior_knowledge(true).limits(limits).build().unwrap();
    let one = client.get(&url).header("priority", first).send().await.unwrap();
    let two = client.get(&url).header("priority", second).send().await.unwrap();
    if let Some(priority) = then_of_second {
        two.reprioritise(priority).unwrap();
        // Whatever is asked for next comes behind it.
        drop(client.get(&url).send().await.unwrap());
    }
    gate.add_permits(2);
    let bytes = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let both = tokio::join!(read(one, &bytes[0], &bytes[1]), read(two, &bytes[1], &bytes[0]));
    stop.stop();
    both
}

#[tokio::test]
async fn the_more_urgent_response_is_whole_first() {
    let (_, of_first) = within(race("u=6", "u=1", None)).await;
    assert!(of_first < BYTES / 4, "{of_first}");
    let (of_second, _) = within(race("u=1", "u=6", None)).await;
    assert!(of_second < BYTES / 4, "{of_second}");
}

#[tokio::test]
async fn responses_that_share_come_together() {
    let (of_second, of_first) = within(race("u=3, i", "u=3, i", None)).await;
    assert!(of_first.min(of_second) > BYTES / 2, "{of_first} {of_second}");
}

#[tokio::test]
async fn responses_that_do_not_share_come_one_after_the_other() {
    let (of_second, _) = within(race("u=3", "u=3", None)).await;
    assert!(of_second < BYTES / 4, "{of_second}");
}

#[tokio::test]
async fn a_response_that_is_made_urgent_overtakes() {
    let urgent = Priority { urgency: 0, incremental: false };
    let (_, of_first) = within(race("u=3", "u=7", Some(urgent))).await;
    assert!(of_first < BYTES / 4, "{of_first}");
}
