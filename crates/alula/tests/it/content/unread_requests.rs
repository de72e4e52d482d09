//! Answers of HTTP/1.1 to requests whose content nobody reads: they say whether their connection ends with
//! them, for a client that has all of its content on the way would else send the next request into it.

use std::time::Duration;

use alula::{Answer, Client, Error, Exchange, Router, Sent, Server, Status, from_tower, routing::post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::listen;

async fn unread(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).send("unread").await
}

async fn streamed(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).stream().await?.finish_content("unread").await
}

async fn dropped(exchange: Exchange) -> Result<Sent, Error> {
    let (_, body, responder) = exchange.split();
    drop(body);
    responder.respond(Status::OK).send("unread").await
}

async fn refused(_: Exchange) -> Result<Sent, Answer> {
    Err(Answer::new(Status::OK).content("unread"))
}

async fn in_part(mut exchange: Exchange) -> Result<Sent, Error> {
    exchange.body().chunk().await?;
    exchange.respond(Status::OK).send("unread").await
}

async fn read(mut exchange: Exchange) -> Result<Sent, Error> {
    while exchange.body().chunk().await?.is_some() {}
    exchange.respond(Status::OK).send("read").await
}

async fn serve() -> String {
    let service = tower::service_fn(|_| async { Ok::<_, Error>(http::Response::new("unread".to_owned())) });
    let routes = Router::new()
        .route("/unread", post(unread))
        .route("/streamed", post(streamed))
        .route("/dropped", post(dropped))
        .route("/refused", post(refused))
        .route("/part", post(in_part))
        .route("/read", post(read))
        .route("/tower", post(from_tower(service)));
    listen(Server::builder(), routes.build().unwrap()).await.to_string()
}

/// The head of the answer to a request with this much of its content.
async fn head(address: &str, path: &str, framing: &str, content: &[u8]) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("POST /{path} HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n");
    socket.write_all(&[request.as_bytes(), content].concat()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = timeout(Duration::from_secs(10), socket.read_buf(&mut answer));
        assert_ne!(read.await.unwrap().unwrap(), 0, "{path}: no answer");
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

#[tokio::test]
async fn an_answer_says_that_its_connection_ends() {
    let address = serve().await;
    for (path, framing, content, is_last) in [
        ("unread", "content-length: 200000", &b""[..], true),
        ("unread", "content-length: 200000", &[b'x'; 100_000], true),
        ("streamed", "content-length: 200000", b"", true),
        ("dropped", "content-length: 200000", b"", true),
        ("refused", "content-length: 200000", b"", true),
        ("tower", "content-length: 200000", b"", true),
        ("part", "content-length: 200000", b"x", true),
        ("unread", "transfer-encoding: chunked", b"", true),
        ("unread", "transfer-encoding: chunked", b"1\r\nx\r\n", true),
        ("unread", "transfer-encoding: chunked", b"1\r\nx\r\n0\r\n\r\n", false),
        ("unread", "content-length: 20000", b"", false),
        ("unread", "content-length: 20000", &[b'x'; 20_000], false),
        ("streamed", "content-length: 20000", b"", false),
        ("tower", "content-length: 20000", b"", false),
        ("read", "content-length: 200000", &[b'x'; 200_000], false),
    ] {
        let head = head(&address, path, framing, content).await;
        assert!(head.starts_with("http/1.1 200"), "{path}, {framing}: {head}");
        assert_eq!(head.contains("connection: close"), is_last, "{path}, {framing}: {head}");
    }
}

#[tokio::test]
async fn a_client_whose_content_was_on_the_way_goes_on() {
    let url = format!("http://{}/unread", serve().await);
    let client = Client::new().unwrap();
    for _ in 0..50 {
        // Small enough for the buffers of the system: all of it is sent before the answer is here.
        let mut response = client.post(&url).send_body(vec![b'x'; 150_000]).await.unwrap();
        assert_eq!(response.text().await.unwrap(), "unread");
    }
}
