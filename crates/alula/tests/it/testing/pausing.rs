//! Peers that pause, with the limits that a server has by default: a video that is paused, a pager on a log,
//! a slow disk behind a pipe; and those that pause for longer than anyone does.

use alula::{Client, Identity, from_tower};
use axum::{Router, body::Body as AxumBody, routing};
use bytes::Bytes;
use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};

use super::*;

const SECOND: Duration = Duration::from_secs(1);
/// The length of a film, in bytes: more than all windows and buffers between its server and its viewer hold.
const FILM: usize = 4 << 20;
/// A page of a log, with what a pager reads ahead.
const PAGE: usize = 64 << 10;

async fn native(mut exchange: Exchange) -> Result<Sent, Error> {
    if exchange.request().path() == "/film" {
        let mut writer = exchange.respond(Status::OK).stream().await?;
        for _ in 0..FILM >> 16 {
            writer.write(&[b'f'; 1 << 16]).await?;
        }
        return writer.finish().await;
    }
    let content = exchange.body().bytes().await?;
    exchange.respond(Status::OK).send(content).await
}

fn service() -> Router {
    let film = async || AxumBody::new(Full::new(Bytes::from(vec![b'f'; FILM])));
    Router::new()
        .route("/film", routing::get(film))
        .route("/all", routing::post(async |content: Bytes| content))
}

/// A handler of our own and a service of axum.
fn servers() -> [TestServer; 2] {
    [TestServer::new(native), TestServer::new(from_tower(service()))]
}

/// Each of them over each version, in clear text and over TLS: clients, and the origins that they are to ask.
fn clients() -> Vec<(Client, &'static str)> {
    let mut clients = Vec::new();
    for (is_http2, is_secure) in [(false, false), (false, true), (true, false), (true, true)] {
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let settings =
            || if is_secure { Server::builder().identity(identity.clone()) } else { Server::builder() };
        let servers =
            [TestServer::with(settings(), native), TestServer::with(settings(), from_tower(service()))];
        for server in servers {
            let server = if is_http2 { server.http2() } else { server };
            let client = Client::builder().trust_anything();
            let client = if is_http2 { client } else { client.http1_only() };
            let origin = if is_secure { "https://localhost" } else { "http://localhost" };
            clients.push((server.client_with(client).unwrap(), origin));
        }
    }
    clients
}

/// Plays the film for so many seconds, a part each second, pauses, and sees the rest at once. Returns the
/// bytes seen, and for how long it was seen until it was over or broke off.
async fn watch(client: &Client, origin: &str, played: u32, pause: Duration) -> Result<usize, Error> {
    const PART: usize = FILM / 16;
    let mut film = client.get(&format!("{origin}/film")).send().await?;
    let (mut seen, mut pauses) = (0, Vec::from([pause]));
    pauses.extend((0..played).map(|_| SECOND));
    while let Some(chunk) = film.body().chunk().await? {
        let before = seen / PART;
        seen += chunk.len();
        if seen / PART > before
            && let Some(pause) = pauses.pop()
        {
            sleep(pause).await;
        }
    }
    Ok(seen)
}

#[tokio::test(start_paused = true)]
async fn a_video_may_be_paused() {
    for (client, origin) in clients() {
        for (played, pause) in [(0, 8), (0, 29), (8, 29)] {
            let seen = watch(&client, origin, played, pause * SECOND).await;
            assert_eq!(seen.unwrap(), FILM, "{origin}, {pause} s after {played} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pager_reads_a_page_now_and_then() {
    for (client, origin) in clients() {
        let mut log = client.get(&format!("{origin}/film")).send().await.unwrap();
        let (mut seen, mut page) = (0, 0);
        while let Some(chunk) = log.body().chunk().await.unwrap_or_else(|error| panic!("{origin}: {error}")) {
            (seen, page) = (seen + chunk.len(), page + chunk.len());
            if page >= PAGE {
                page = 0;
                sleep(8 * SECOND).await;
            }
        }
        assert_eq!(seen, FILM);
    }
}

/// Silent peers give back all that they hold.
#[tokio::test(start_paused = true)]
async fn who_takes_nothing_is_not_waited_for() {
    for server in servers() {
        let mut peer = server.connect();
        let began = Instant::now();
        peer.write_all(b"GET /film HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        peer.read_exact(&mut [0; 10]).await.unwrap();
        server.server().all_ended().await;
        // After its end a server reads on for `linger_timeout`.
        assert!((29..=40).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_disk_sends_when_it_has_something() {
    for (client, origin) in clients() {
        for pause in [8, 29].map(|seconds| seconds * SECOND) {
            let url = format!("{origin}/all");
            let (mut writer, pending) = client.post(&url).open().await.unwrap();
            let sending = async {
                writer.write(b"a").await?;
                sleep(pause).await;
                writer.write(b"b").await?;
                writer.finish().await?;
                pending.response().await?.bytes().await
            };
            assert_eq!(sending.await.unwrap(), &b"ab"[..], "{origin}, {pause:?}");
        }
    }
}

/// Sends this much of the content every second, after so much at once, and returns the time after which the
/// server did not wait any more.
async fn dribble(client: &Client, origin: &str, at_once: usize, each_second: usize) -> u64 {
    let url = format!("{origin}/all");
    let (mut writer, pending) = client.post(&url).open().await.unwrap();
    let began = Instant::now();
    let sending = async {
        let _ = writer.write(&vec![b'x'; at_once]).await;
        while writer.write(&vec![b'x'; each_second]).await.is_ok() && began.elapsed() < 600 * SECOND {
            sleep(SECOND).await;
        }
        std::future::pending::<()>().await
    };
    tokio::select! {
        () = sending => {}
        _ = pending.response() => {}
    }
    began.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn who_dribbles_is_judged_by_the_mean_since_the_beginning() {
    for (client, origin) in clients() {
        for (at_once, each_second, ends) in [
            // At half of the least rate the grace is all there is.
            (1, 120, 29..=32),
            // Bytes ahead of the rate count for a minute at the most.
            (1 << 20, 1, 59..=63),
            // A minute ahead, and half of it kept up.
            (1 << 20, 120, 119..=123),
        ] {
            let ended = dribble(&client, origin, at_once, each_second).await;
            assert!(ends.contains(&ended), "{origin}, {at_once} and {each_second}: {ended} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_keeps_the_rate_is_waited_for() {
    for (client, origin) in clients() {
        assert!(dribble(&client, origin, 1, 250).await >= 600, "{origin}");
    }
}

/// Nobody but the server can say why over HTTP/1.1; over HTTP/2 the reset does.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_waited_for_is_answered_408() {
    for server in servers() {
        for request in [
            "POST /all HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx",
            "POST /all HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n",
        ] {
            let (mut peer, began) = (server.connect(), Instant::now());
            peer.write_all(request.as_bytes()).await.unwrap();
            let mut said = String::new();
            let _ = peer.read_to_string(&mut said).await;
            assert!(said.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{request}: {said:?}");
            assert!(said.contains("Connection: close\r\n"), "{said}");
            assert!((29..=40).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_begun_is_not_followed_by_408() {
    let server = TestServer::new(tunnel);
    let mut peer = server.connect();
    peer.write_all(b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx").await.unwrap();
    let mut said = Vec::new();
    let _ = peer.read_to_end(&mut said).await;
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200 ") && !said.contains("408"), "{said:?}");
}
