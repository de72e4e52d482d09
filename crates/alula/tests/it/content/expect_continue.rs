//! `expect: 100-continue` (RFC 9110 §10.1.1) between client and server, over both versions, and against peers
//! written by hand.

use std::{io::Write as _, net::SocketAddr, time::Duration};

use alula::{Client, Content, Error, Exchange, Limits, Sent, Server, Status, blocking};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};

use crate::support::{clients, listen, serve, within};

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);
/// Content that fits no buffer of a head.
const BYTES: usize = 100_000;

/// Answers `/echo` with the content, begun before any of it is read; `/whole` with 200 at once, while it
/// reads the content; `/refused` with 403, whose content does not end until that of the request is read,
/// which fails; anything else with 204 unread.
async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let (request, mut body, responder) = exchange.split();
    match request.path() {
        "/echo" => {
            let mut writer = responder.respond(Status::OK).stream().await?;
            while let Some(chunk) = body.chunk().await? {
                writer.write(chunk).await?;
            }
            writer.finish().await
        }
        "/whole" => {
            let sent = responder.respond(Status::OK).send(b"whole").await?;
            while body.chunk().await?.is_some() {}
            Ok(sent)
        }
        "/refused" => {
            let mut writer = responder.respond(Status::FORBIDDEN).stream().await?;
            let error = body.chunk().await.map(|_| ()).unwrap_err();
            writer.write(error.to_string().as_bytes()).await?;
            writer.finish().await
        }
        _ => {
            drop(body);
            responder.respond(Status::NO_CONTENT).send(b"").await
        }
    }
}

async fn start() -> SocketAddr {
    // Far less than any of these would wait without them.
    let limits = Limits { stall_timeout: FOREVER * 10, body_rate_min: 0, ..Limits::default() };
    listen(Server::builder().limits(limits), answer).await
}

fn noise() -> Vec<u8> {
    (0..BYTES).map(|at| (at * 7 % 251) as u8).collect()
}

#[tokio::test]
async fn an_answer_that_is_begun_before_the_content_is_read_asks_for_it() {
    let (address, content) = (start().await, noise());
    for client in clients() {
        let url = format!("http://{address}/echo");
        let call = || client.post(&url).header("expect", "100-continue");
        let mut by_slice = within(call().send_body(&content)).await.unwrap();
        assert_eq!(within(by_slice.bytes()).await.unwrap(), content);
        let mut given = within(call().content(Content::bytes(content.clone())).send()).await.unwrap();
        assert_eq!(within(given.bytes()).await.unwrap(), content);
        let reader = Content::reader(std::io::Cursor::new(content.clone()));
        let mut unstated = within(call().content(reader).send()).await.unwrap();
        assert_eq!(within(unstated.bytes()).await.unwrap(), content);

        let (mut writer, pending) = within(call().open()).await.unwrap();
        assert!(within(pending.go_ahead()).await.unwrap());
        writer.write(&content).await.unwrap();
        writer.finish().await.unwrap();
        let mut response = within(pending.response()).await.unwrap();
        assert_eq!(within(response.bytes()).await.unwrap(), content);

        let url = format!("http://{address}/whole");
        let call = client.post(&url).header("expect", "100-continue");
        let mut whole = within(call.send_body(&content)).await.unwrap();
        assert_eq!(within(whole.bytes()).await.unwrap(), &b"whole"[..]);
    }
}

#[test]
fn the_blocking_client_sends_what_is_asked_for() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (address, content) = (runtime.block_on(start()), noise());
    for http2 in [false, true] {
        let client = blocking::Client::builder().http2_prior_knowledge(http2).build_blocking().unwrap();
        let url = format!("http://{address}/echo");
        let call = client.post(&url).header("expect", "100-continue").timeout(FOREVER);
        let mut response = call.send_body(&content).unwrap();
        assert_eq!(response.bytes().unwrap(), content);
        let call = client.post(&url).header("expect", "100-continue").timeout(FOREVER);
        let (mut writer, pending) = call.open().unwrap();
        assert!(pending.go_ahead().unwrap());
        writer.write_all(&content).unwrap();
        writer.finish().unwrap();
        assert_eq!(pending.response().unwrap().bytes().unwrap(), content);
    }
}

#[tokio::test]
async fn an_answer_that_declines_asks_for_nothing_and_reading_fails_at_once() {
    let (address, content) = (start().await, noise());
    for client in clients() {
        let url = format!("http://{address}/refused");
        let mut response =
            within(client.post(&url).header("expect", "100-continue").send_body(&content)).await.unwrap();
        assert_eq!(response.status(), Status::FORBIDDEN);
        let text = within(response.text()).await.unwrap();
        assert!(text.contains("RFC 9110 §10.1.1"), "{text}");
        drop(response);
        let unread = format!("http://{address}/unread");
        let response =
            within(client.post(&unread).header("expect", "100-continue").send_body(&content)).await.unwrap();
        assert_eq!(response.status(), Status::NO_CONTENT);
    }
}

/// The bytes that a server answers to a request whose head is all that is sent, until it has said this.
async fn told(address: SocketAddr, path: &str, until: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains(until) {
        let mut bytes = [0; 1000];
        let count = within(socket.read(&mut bytes)).await.unwrap();
        assert!(count > 0, "the end came after {text:?}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    text
}

#[tokio::test]
async fn a_server_asks_before_it_accepts_and_not_for_what_it_will_not_read() {
    let address = start().await;
    let text = told(address, "/echo", "200 OK").await;
    assert!(text.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{text}");
    let text = told(address, "/unread", "204").await;
    assert!(text.starts_with("HTTP/1.1 204 "), "{text}");
    let text = told(address, "/refused", "\r\n0\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 403 ") && text.contains("Connection: close\r\n"), "{text}");
}

/// A server by hand that answers each head with the first text, and with the second once the content has
/// come. It tells how many bytes of content came.
async fn by_hand(first: &'static str, second: &'static str) -> (String, mpsc::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel(10);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let came = speak(socket, first, second).await.unwrap_or_default();
            tell.send(came).await.unwrap();
        }
    });
    (url, told)
}

async fn speak(mut socket: TcpStream, first: &str, second: &str) -> std::io::Result<usize> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await?);
    }
    socket.write_all(first.as_bytes()).await?;
    let (mut content, mut came) = ([0; 1 << 16], 0);
    while came < BYTES {
        match socket.read(&mut content).await? {
            0 => return Ok(came),
            bytes => came += bytes,
        }
    }
    socket.write_all(second.as_bytes()).await?;
    Ok(came)
}

#[tokio::test]
async fn a_final_answer_of_2xx_ends_the_wait_and_the_content_follows() {
    let content = noise();
    let client = Client::new().unwrap();
    for first in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n",
    ] {
        let (url, mut came) = by_hand(first, "ok").await;
        let call = client.post(&url).header("expect", "100-continue");
        let mut response = within(call.send_body(&content)).await.unwrap();
        assert_eq!(within(response.bytes_max(10)).await.unwrap(), &b"ok"[..]);
        assert_eq!(came.recv().await, Some(BYTES));
        let call =
            client.post(&url).header("expect", "100-continue").content(Content::bytes(content.clone()));
        let mut response = within(call.send()).await.unwrap();
        assert_eq!(within(response.bytes_max(10)).await.unwrap(), &b"ok"[..]);
        assert_eq!(came.recv().await, Some(BYTES));
    }
}

#[tokio::test]
async fn a_server_that_never_asks_gets_the_content_after_a_second() {
    let (url, mut came) = by_hand("", "HTTP/1.1 204 No Content\r\n\r\n").await;
    let call = Client::new().unwrap();
    let call = call.post(&url).header("expect", "100-continue");
    assert_eq!(within(call.send_body(&noise())).await.unwrap().status(), Status::NO_CONTENT);
    assert_eq!(came.recv().await, Some(BYTES));
}

/// Content that fits no window and no socket.
const MUCH: usize = 64 << 20;

/// The rest of a request that was answered with 300 or more is not sent, and the answer is read whole.
#[tokio::test]
async fn an_answer_of_300_or_more_ends_the_sending() {
    static HAS_HEAD: Notify = Notify::const_new();
    let url = serve(async |exchange: Exchange| {
        let (_, body, responder) = exchange.split();
        let mut writer = responder.respond(Status::FORBIDDEN).stream().await?;
        HAS_HEAD.notified().await;
        writer.write(&[b'n'; BYTES]).await?;
        drop(body);
        writer.finish().await
    })
    .await
        + "/";
    let much = vec![b'x'; MUCH];
    for client in clients() {
        for kind in ["slice", "given"] {
            let mut response = match kind {
                "slice" => within(client.post(&url).send_body(&much)).await.unwrap(),
                _ => within(client.post(&url).content(Content::bytes(much.clone())).send()).await.unwrap(),
            };
            assert_eq!(response.status(), Status::FORBIDDEN, "{kind}");
            HAS_HEAD.notify_one();
            let text = within(response.bytes()).await;
            assert_eq!(text.unwrap().len(), BYTES, "{kind}");
        }
    }
}
