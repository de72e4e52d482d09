//! Content that is made as the peer takes it: nothing is made for a peer that takes nothing.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use alula::{Client, Error, Exchange, Ledger, Limits, Response, Sent, Server, Status};
use bytes::Bytes;
use http_body::Frame;
use tokio::sync::watch;

use crate::support::{serve, within};

/// What a client of these tests lets come ahead on one stream.
const WINDOW: usize = 40_000;
/// The largest piece that is made at once.
const PIECE: usize = 16 * 1024;

/// The byte at this place of the content, so that pieces in a wrong order show.
fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

/// Sends so many bytes, each piece made when there is room for it; `made` tells how many were made so far.
async fn produce(exchange: Exchange, bytes: usize, made: watch::Sender<usize>) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::OK).header("content-length", bytes.to_string());
    let mut writer = reply.stream().await?;
    let mut at = 0;
    while at < bytes {
        let room = writer.writable().await?;
        assert!(room > 0);
        let piece: Vec<u8> = (at..bytes).take(room.min(PIECE)).map(byte).collect();
        made.send_modify(|made| *made += piece.len());
        at += writer.try_write(&piece)?;
    }
    writer.finish().await
}

/// A server of so much content: its URL, what it has counted, and how much was made.
async fn serve_content(limits: Limits, bytes: usize) -> (String, Arc<Ledger>, watch::Receiver<usize>) {
    let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
    let (url, ledger) = (format!("http://{}/", server.address().unwrap()), server.ledger());
    let (made, is_made) = watch::channel(0);
    tokio::spawn(server.serve(move |exchange| produce(exchange, bytes, made.clone())));
    (url, ledger, is_made)
}

fn client(is_http2: bool) -> Client {
    let limits = Limits { stream_window: WINDOW as u32, stream_window_max: 0, ..Limits::default() };
    let builder = Client::builder().limits(limits);
    if is_http2 { builder.http2_prior_knowledge(true) } else { builder.http1_only() }.build().unwrap()
}

async fn read_all(mut response: Response) -> Vec<u8> {
    let mut content = Vec::new();
    response.body().copy_to(&mut content).await.unwrap();
    content
}

#[tokio::test]
async fn no_more_is_made_than_the_window_takes() {
    let (url, _, mut made) = serve_content(Limits::default(), 3 * WINDOW).await;
    let client = client(true);
    let response = client.get(&url).send().await.unwrap();
    within(made.wait_for(|made| *made >= WINDOW)).await.unwrap();
    // Another exchange on the same connection: what the first was to do, it has done.
    let other = client.get(&url).send().await.unwrap();
    within(made.wait_for(|made| *made >= 2 * WINDOW)).await.unwrap();
    drop(client.get(&url).send().await.unwrap());
    assert!(*made.borrow() <= 3 * WINDOW, "{} bytes were made for windows of {WINDOW}", *made.borrow());
    let expected: Vec<u8> = (0..3 * WINDOW).map(byte).collect();
    assert!(within(read_all(response)).await == expected);
    assert!(within(read_all(other)).await == expected);
}

#[tokio::test]
async fn content_is_whole_over_both_versions() {
    const BYTES: usize = 3_000_000;
    let expected: Vec<u8> = (0..BYTES).map(byte).collect();
    for is_http2 in [false, true] {
        let (url, ..) = serve_content(Limits::default(), BYTES).await;
        let client = client(is_http2);
        let mut responses = Vec::new();
        for _ in 0..10 {
            responses.push(within(client.get(&url).send()).await.unwrap());
        }
        let contents = responses.into_iter().map(read_all).map(tokio::spawn);
        for content in contents.collect::<Vec<_>>() {
            assert!(within(content).await.unwrap() == expected, "HTTP/2: {is_http2}");
        }
    }
}

#[tokio::test]
async fn a_peer_that_leaves_no_room_is_given_up() {
    let limits = Limits { body_rate_grace: Duration::from_millis(200), ..Limits::default() };
    let (url, ledger, mut made) = serve_content(limits, 1 << 30).await;
    let response = client(true).get(&url).send().await.unwrap();
    within(made.wait_for(|made| *made >= WINDOW)).await.unwrap();
    within(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if ledger.count("SLOW_CONTENT") == 1 { Poll::Ready(()) } else { Poll::Pending }
    }))
    .await;
    assert_eq!(*made.borrow(), WINDOW);
    drop(response);
}

#[tokio::test]
async fn a_client_may_make_its_content_so_as_well() {
    let url = serve(|mut exchange: Exchange| async move {
        let mut bytes = 0;
        while let Some(chunk) = exchange.body().chunk().await? {
            assert!(chunk.iter().enumerate().all(|(place, found)| *found == byte(bytes + place)));
            bytes += chunk.len();
        }
        exchange.respond(Status::OK).send(bytes.to_string().as_bytes()).await
    })
    .await
        + "/";
    for is_http2 in [false, true] {
        let client = client(is_http2);
        let (mut writer, response) = client.post(&url).open().await.unwrap();
        let mut at = 0;
        while at < 1_000_000 {
            let room = within(writer.writable()).await.unwrap();
            let piece: Vec<u8> = (at..1_000_000).take(room.min(PIECE)).map(byte).collect();
            at += writer.try_write(&piece).unwrap();
        }
        let _sent = writer.finish().await.unwrap();
        let response = within(response.response()).await.unwrap();
        assert_eq!(read_all(response).await, b"1000000", "HTTP/2: {is_http2}");
    }
}

/// Content that counts how often it was asked for a piece.
struct Counted {
    pieces: usize,
    asked: Arc<AtomicUsize>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let Some(left) = self.pieces.checked_sub(1) else { return Poll::Ready(None) };
        self.pieces = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[7; 10_000])))))
    }
}

#[derive(Clone)]
struct Service(Arc<AtomicUsize>);

impl tower::Service<http::Request<alula::Body>> for Service {
    type Response = http::Response<Counted>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<alula::Body>) -> Self::Future {
        std::future::ready(Ok(http::Response::new(Counted { pieces: 20, asked: self.0.clone() })))
    }
}

#[tokio::test]
async fn a_service_is_asked_for_content_that_there_is_room_for() {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", server.address().unwrap());
    tokio::spawn(server.serve(alula::from_tower(Service(asked.clone()))));
    let client = client(true);
    let mut response = client.get(&url).send().await.unwrap();
    let count = || asked.load(Ordering::Relaxed);
    within(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if count() >= WINDOW / 10_000 { Poll::Ready(()) } else { Poll::Pending }
    }))
    .await;
    // What the server was to do for the first request it has done before it answers another.
    drop(client.get(&url).send().await.unwrap());
    assert!(count() <= 2 * WINDOW / 10_000, "asked {} times for windows of {WINDOW} bytes", count());
    let bytes = crate::support::count(response.body()).await.unwrap();
    assert_eq!(bytes, 200_000);
}
