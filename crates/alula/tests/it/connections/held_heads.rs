//! GET, HEAD, DELETE and OPTIONS that are opened: whether content follows is known before the head is sent.
//!
//! Such a request said `transfer-encoding: chunked` before anybody knew, which servers refuse that take no
//! content with GET.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use alula::{BodyWriter, Call, Cause, Client, Error, Exchange, PendingResponse, Sent, Status};
use tokio::time::timeout;

use crate::support::{client, clients, serve};

const PATIENCE: Duration = Duration::from_secs(20);
const METHODS: [&str; 4] = ["GET", "HEAD", "DELETE", "OPTIONS"];

/// Tells how the request came: whether it ended with its head, how it was framed, and its content.
async fn tell(mut exchange: Exchange) -> Result<Sent, Error> {
    let ended = exchange.body().is_ended();
    let fields = ["transfer-encoding", "content-length"]
        .map(|name| exchange.request().headers().text(name).unwrap_or("-").to_owned());
    let content = exchange.body().text().await?;
    let trailer = exchange.body().trailers().await?.is_some();
    let told =
        format!("ended={ended} chunked={} length={} {content} trailers={trailer}", fields[0], fields[1]);
    exchange.respond(Status::OK).header("x-told", told).send("").await
}

async fn open(call: Call<'_>) -> (BodyWriter, PendingResponse) {
    timeout(PATIENCE, call.open()).await.unwrap().unwrap()
}

async fn told(pending: PendingResponse) -> String {
    let response = timeout(PATIENCE, pending.response()).await.unwrap().unwrap();
    response.headers().text("x-told").unwrap().to_owned()
}

fn chunked(is_http2: bool, content: &str) -> String {
    format!(
        "ended=false chunked={} length=- {content} trailers=false",
        if is_http2 { "-" } else { "chunked" }
    )
}

#[tokio::test]
async fn a_request_that_is_finished_without_content_ends_with_its_head() {
    let (origin, clients) = (serve(tell).await + "/", clients());
    for client in &clients {
        for method in METHODS {
            let (writer, pending) = open(client.request(method, &origin)).await;
            writer.finish().await.unwrap();
            assert_eq!(told(pending).await, "ended=true chunked=- length=-  trailers=false", "{method}");
            // Nothing that is written is no content either.
            let (mut writer, pending) = open(client.request(method, &origin)).await;
            writer.write(b"").await.unwrap();
            writer.finish_content("").await.unwrap();
            assert_eq!(told(pending).await, "ended=true chunked=- length=-  trailers=false", "{method}");
        }
        let prepared = client.prepare("GET", &origin).unwrap().build().unwrap();
        let (writer, pending) = open(client.call(&prepared)).await;
        writer.finish().await.unwrap();
        assert_eq!(told(pending).await, "ended=true chunked=- length=-  trailers=false");
    }
}

#[tokio::test]
async fn content_is_sent_as_ever() {
    let (origin, clients) = (serve(tell).await + "/", clients());
    for (client, is_http2) in clients.iter().zip([false, true]) {
        for method in METHODS {
            let (mut writer, pending) = open(client.request(method, &origin)).await;
            writer.write("some ").await.unwrap();
            writer.finish_content("words").await.unwrap();
            assert_eq!(told(pending).await, chunked(is_http2, "some words"), "{method}");
        }
        // Without waiting, and in one piece.
        let (mut writer, pending) = open(client.get(&origin)).await;
        let mut left = &b"some words"[..];
        while !left.is_empty() {
            timeout(PATIENCE, writer.writable()).await.unwrap().unwrap();
            left = &left[writer.try_write(left).unwrap()..];
        }
        writer.finish().await.unwrap();
        assert_eq!(told(pending).await, chunked(is_http2, "some words"));
        let (writer, pending) = open(client.get(&origin)).await;
        let mut trailers = alula::FieldSection::new();
        trailers.append("x-sum", "7").unwrap();
        writer.finish_with(&trailers).await.unwrap();
        assert_eq!(told(pending).await, chunked(is_http2, "").replace("trailers=false", "trailers=true"));
        // A length is known before, and other methods mostly have content: their heads are sent at once.
        let (writer, pending) = open(client.delete(&origin).header("content-length", "5")).await;
        writer.finish_content("words").await.unwrap();
        assert_eq!(told(pending).await, "ended=false chunked=- length=5 words trailers=false");
        let (writer, pending) = open(client.post(&origin)).await;
        writer.finish().await.unwrap();
        assert_eq!(told(pending).await, chunked(is_http2, ""));
        // Whoever waits to be asked has said that there is content.
        let (writer, pending) = open(client.get(&origin).header("expect", "100-continue")).await;
        assert!(timeout(PATIENCE, pending.go_ahead()).await.unwrap().unwrap());
        writer.finish_content("words").await.unwrap();
        assert_eq!(told(pending).await, chunked(is_http2, "words"));
    }
}

#[tokio::test]
async fn whoever_waits_for_the_response_has_the_head_sent() {
    let (origin, clients) = (serve(tell).await + "/", clients());
    for (client, is_http2) in clients.iter().zip([false, true]) {
        let (writer, pending) = open(client.get(&origin)).await;
        let late = async {
            tokio::task::yield_now().await;
            writer.finish_content("late").await.unwrap();
        };
        let (response, ()) = tokio::join!(pending.response(), late);
        let response = response.unwrap();
        assert_eq!(response.headers().text("x-told"), Some(&*chunked(is_http2, "late")));
    }
}

/// Nobody may ever write or wait for the response: the server sees the request after a while.
#[tokio::test]
async fn a_head_is_not_held_for_long() {
    let (seen, mut sees) = tokio::sync::mpsc::unbounded_channel();
    let origin = serve(move |exchange: Exchange| {
        seen.send(()).unwrap();
        async move { exchange.respond(Status::OK).send("").await }
    })
    .await
        + "/";
    for http2 in [false, true] {
        let client = client(http2);
        let (_writer, _pending) = open(client.get(&origin)).await;
        timeout(PATIENCE, sees.recv()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn whoever_leaves_before_the_head_was_sent_leaves_nothing_behind() {
    let (origin, clients) = (serve(tell).await + "/", clients());
    for client in &clients {
        let (writer, pending) = open(client.get(&origin)).await;
        drop(writer);
        let error = timeout(PATIENCE, pending.response()).await.unwrap().unwrap_err();
        assert!(matches!(error.cause(), Cause::Cancelled), "{error}");
        let (mut writer, pending) = open(client.get(&origin)).await;
        drop(pending);
        timeout(PATIENCE, writer.write("words")).await.unwrap().unwrap_err();
        // The connection is as it was.
        let response = timeout(PATIENCE, client.get(&origin).send()).await.unwrap().unwrap();
        assert_eq!(response.headers().text("x-told"), Some("ended=true chunked=- length=-  trailers=false"));
    }
}

/// Content of an unknown length that turns out to be none, as what a proxy passes on.
struct Nothing;

impl http_body::Body for Nothing {
    type Data = alula::Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<alula::Bytes>, Error>>> {
        Poll::Ready(None)
    }
}

#[tokio::test]
async fn a_request_of_the_http_crate_without_content_ends_with_its_head() {
    let (origin, clients) = (serve(tell).await + "/", clients());
    for client in &clients {
        let request = http::Request::get(&origin).body(Nothing).unwrap();
        let response = timeout(PATIENCE, client.execute(request)).await.unwrap().unwrap();
        assert_eq!(response.headers()["x-told"], "ended=true chunked=- length=-  trailers=false");
    }
}

#[tokio::test]
async fn a_blocking_client_holds_heads_back_as_well() {
    let (origin, _) = (serve(tell).await + "/", clients());
    let calls = std::thread::spawn(move || {
        let client = alula::blocking::Client::new().unwrap();
        let (writer, pending) = client.get(&origin).open().unwrap();
        writer.finish().unwrap();
        let told = pending.response().unwrap().headers().text("x-told").unwrap().to_owned();
        assert_eq!(told, "ended=true chunked=- length=-  trailers=false");
        let (writer, pending) = client.get(&origin).open().unwrap();
        writer.finish_content("words").unwrap();
        let told = pending.response().unwrap().headers().text("x-told").unwrap().to_owned();
        assert_eq!(told, chunked(false, "words"));
        let (writer, pending) = client.get(&origin).open().unwrap();
        drop(writer);
        assert!(matches!(pending.response().unwrap_err().cause(), Cause::Cancelled));
    });
    // Its panic is that of the test.
    tokio::task::spawn_blocking(|| calls.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_wrong_is_told_when_it_is_opened() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new().unwrap();
    let error = timeout(PATIENCE, client.get(&origin).open()).await.unwrap().err().unwrap();
    assert!(error.is_connect(), "{error}");
    assert!(error.to_string().starts_with(&format!("GET {origin}")), "{error}");
}
