//! Peers that are not hurried: content that nobody waits for, content that our own windows keep back,
//! tunnels, and answers after which the handler allows a slow peer.
//! `crates/conformance/tests/attacks/slow.rs` and `http1.rs` play those that are.

use std::{net::SocketAddr, time::Duration};

use alula::{Error, Exchange, Limits, Sent, Server, Status};
use tokio::{sync::Notify, time::sleep};

use crate::support::{clients, count, listen, within};

/// How long nothing may come that is waited for.
const STALL: Duration = Duration::from_millis(200);
/// Long enough for a peer to be found slow, if it were judged.
const LONG: Duration = Duration::from_millis(800);

/// The bytes of content that a peer may send before they are read.
const WINDOW: u32 = 64 * 1024;

async fn start(handler: impl alula::Handler) -> SocketAddr {
    let limits = Limits {
        stall_timeout: STALL,
        body_rate_grace: STALL,
        connection_window: WINDOW,
        connection_window_max: WINDOW,
        stream_window: WINDOW,
        stream_window_max: WINDOW,
        ..Limits::default()
    };
    listen(Server::builder().limits(limits).extended_connect(true), handler).await
}

/// Answers with the number of bytes that came, which are only read after a long while.
async fn reads_late(mut exchange: Exchange) -> Result<Sent, Error> {
    sleep(LONG).await;
    let bytes = count(exchange.body()).await?;
    exchange.respond(Status::OK).send(bytes.to_string().as_bytes()).await
}

/// The handler does something else, and what has come waits for it as well as what has not.
#[tokio::test]
async fn content_that_nobody_waits_for_may_take_its_time() {
    let address = start(reads_late).await;
    for client in clients() {
        let url = format!("http://{address}/");
        let (mut writer, pending) = client.post(&url).open().await.unwrap();
        writer.write(b"some").await.unwrap();
        sleep(LONG).await;
        let finish = async {
            writer.write(b"more").await?;
            writer.finish().await?;
            pending.response().await?.bytes().await
        };
        assert_eq!(within(finish).await.unwrap(), &b"8"[..]);
    }
}

/// A process that was held up, here by a handler that blocks its thread, has not read what its peers sent
/// meanwhile.
#[tokio::test]
async fn nobody_is_judged_by_a_process_that_was_held_up() {
    let address = start(async |mut exchange: Exchange| {
        if exchange.request().path() == "/blocks" {
            #[expect(
                clippy::disallowed_methods,
                reason = "a handler that blocks its thread is what is tried"
            )]
            std::thread::sleep(2 * LONG);
        }
        while exchange.body().chunk().await?.is_some() {}
        exchange.respond(Status::NO_CONTENT).send(b"").await
    })
    .await;
    let [_, client] = clients();
    let (waits, blocks) = (format!("http://{address}/waits"), format!("http://{address}/blocks"));
    let (mut writer, pending) = client.post(&waits).open().await.unwrap();
    writer.write(b"some").await.unwrap();
    // Its handler waits, as has been noticed once at least.
    sleep(STALL / 2).await;
    let blocked = within(client.get(&blocks).send()).await.unwrap();
    assert_eq!(blocked.status(), Status::NO_CONTENT);
    writer.write(b"more").await.unwrap();
    writer.finish().await.unwrap();
    assert_eq!(within(pending.response()).await.unwrap().status(), Status::NO_CONTENT);
}

/// One stream's content fills the window of the connection, and its handler does not read it: the content of
/// the other stream cannot come, which is not its peer's fault.
#[tokio::test]
async fn content_that_our_window_keeps_back_is_not_missed() {
    static GO_ON: Notify = Notify::const_new();
    let address = start(async |mut exchange: Exchange| {
        if exchange.request().path() == "/holds" {
            GO_ON.notified().await;
        }
        let bytes = count(exchange.body()).await?;
        exchange.respond(Status::OK).send(bytes.to_string().as_bytes()).await
    })
    .await;
    let [_, client] = clients();
    let (holds, waits) = (format!("http://{address}/holds"), format!("http://{address}/waits"));
    let content = vec![b'x'; 100_000];
    let (holding, waiting) =
        (client.post(&holds).send_body(&content), client.post(&waits).send_body(&content));
    let later = async {
        sleep(LONG).await;
        GO_ON.notify_one();
    };
    let (holding, waiting, ()) = within(async { tokio::join!(holding, waiting, later) }).await;
    for response in [holding, waiting] {
        assert_eq!(within(response.unwrap().bytes()).await.unwrap(), &b"100000"[..]);
    }
}

/// Answers at once and sends back what comes, with what the path says about slow peers.
async fn echoes(exchange: Exchange) -> Result<Sent, Error> {
    if exchange.request().path() == "/patient" {
        exchange.allow_slow_peer();
    }
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}

#[tokio::test]
async fn a_handler_that_has_accepted_the_request_may_allow_its_peer_to_be_slow() {
    let address = start(echoes).await;
    for (client, path) in clients().iter().flat_map(|client| [(client, "patient"), (client, "plain")]) {
        let url = format!("http://{address}/{path}");
        let (mut writer, pending) = client.post(&url).open().await.unwrap();
        writer.write(b"some").await.unwrap();
        let mut response = within(pending.response()).await.unwrap();
        assert_eq!(within(response.body().chunk()).await.unwrap(), Some(&b"some"[..]));
        sleep(LONG).await;
        let finish = async {
            writer.write(b"more").await?;
            writer.finish().await?;
            response.bytes().await
        };
        match (path, within(finish).await) {
            ("patient", outcome) => assert_eq!(outcome.unwrap(), &b"more"[..]),
            (_, outcome) => assert!(outcome.is_err(), "the peer was slow"),
        }
    }
}

/// What a tunnel carries is no content.
#[tokio::test]
async fn a_tunnel_may_be_silent() {
    let address = start(echoes).await;
    let [_, client] = clients();
    let url = format!("http://{address}/plain");
    let (mut up, pending) = within(client.request("CONNECT", &url).protocol("echo").open()).await.unwrap();
    let mut response = within(pending.response()).await.unwrap();
    sleep(LONG).await;
    up.write(b"late").await.unwrap();
    assert_eq!(within(response.body().chunk()).await.unwrap(), Some(&b"late"[..]));
}
