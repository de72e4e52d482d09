//! Content in a coding is decoded on its way in, over either version, and never ends well unless all of it
//! came.
#![cfg(feature = "gzip")]

use std::{io::Write as _, sync::LazyLock, time::Duration};

use alula::{Bytes, Cause, Client, ClientBuilder, Error, Exchange, Sent, Status};
use flate2::{Compression, write::GzEncoder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::support::serve;

const PATIENCE: Duration = Duration::from_secs(20);

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..20_000_u32).flat_map(|at| format!("{}, ", at.wrapping_mul(2_654_435_761)).into_bytes()).collect()
});
static CODED: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&TEXT));
static CODED_TWICE: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&CODED));
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![0; 3 << 20]));

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Answers with what it was asked to accept, or with coded content that is well or not.
async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let asked = exchange.request().headers().get("accept-encoding").unwrap_or(b"-").to_vec();
    let path = exchange.request().path().to_owned();
    let reply = exchange.respond(Status::OK).header("x-asked", asked);
    let coded = &*CODED;
    match &*path {
        "/gzip" => reply.header("content-encoding", "gzip").send(coded).await,
        "/twice" => reply.header("content-encoding", "gzip, gzip").send(&*CODED_TWICE).await,
        "/thrice" => reply.header("content-encoding", "gzip, gzip, gzip").send(coded).await,
        "/unknown" => reply.header("content-encoding", "rot13").send(b"uryyb").await,
        "/empty" => reply.header("content-encoding", "gzip").send(b"").await,
        "/cut" => reply.header("content-encoding", "gzip").send(&coded[..coded.len() - 9]).await,
        "/damaged" => {
            let mut damaged = coded.clone();
            damaged[1000] ^= 0xff;
            reply.header("content-encoding", "gzip").send(&damaged).await
        }
        "/bomb" => reply.header("content-encoding", "gzip").send(&*BOMB).await,
        "/stream" => {
            let mut writer = reply.header("content-encoding", "gzip").stream().await?;
            for piece in coded.chunks(999) {
                writer.write(piece).await?;
            }
            let mut trailers = alula::FieldSection::new();
            trailers.append("x-sum", "7")?;
            writer.finish_with(&trailers).await
        }
        _ => reply.send(b"plain").await,
    }
}

fn clients(set: impl Fn(ClientBuilder) -> ClientBuilder) -> [Client; 2] {
    [false, true].map(|http2| set(Client::builder().http2_prior_knowledge(http2)).build().unwrap())
}

async fn read(client: &Client, url: &str) -> Result<Bytes, Error> {
    let mut response = timeout(PATIENCE, client.get(url).send()).await.unwrap()?;
    timeout(PATIENCE, response.bytes_max(64 << 20)).await.unwrap()
}

#[tokio::test]
async fn content_is_asked_for_and_decoded() {
    let origin = serve(answer).await;
    for client in clients(|builder| builder.decompress(true)) {
        for path in ["/gzip", "/twice", "/stream"] {
            let url = format!("{origin}{path}");
            let mut response = timeout(PATIENCE, client.get(&url).send()).await.unwrap().unwrap();
            assert!(response.is_decoded());
            assert!(response.headers().get("x-asked").unwrap().starts_with(b"gzip, deflate"));
            let received = response.received_headers();
            assert!(received.get("content-encoding").unwrap().starts_with(b"gzip"), "as it came");
            assert!(response.bytes().await.unwrap() == *TEXT, "{path}");
            let trailers = response.trailers().await.unwrap().map(|fields| fields.get("x-sum").is_some());
            assert_eq!(trailers, (path == "/stream").then_some(true));
        }
        assert_eq!(read(&client, &format!("{origin}/plain")).await.unwrap(), &b"plain"[..]);
    }
}

#[tokio::test]
async fn whoever_does_not_ask_gets_what_came() {
    let origin = serve(answer).await;
    for client in clients(|builder| builder) {
        let url = format!("{origin}/gzip");
        let mut response = client.get(&url).send().await.unwrap();
        assert_eq!(response.headers().get("x-asked"), Some(&b"-"[..]));
        assert!(!response.is_decoded());
        assert_eq!(response.content_length(), Some(CODED.len() as u64));
        assert!(response.received_headers() == response.headers());
        assert!(response.bytes().await.unwrap() == *CODED);
        let mut response = client.get(&url).decompress(true).send().await.unwrap();
        assert!(response.is_decoded());
        assert!(response.bytes().await.unwrap() == *TEXT);
    }
}

#[tokio::test]
async fn a_call_says_itself_what_it_accepts_or_wants_a_range() {
    let origin = serve(answer).await;
    let [client, _] = clients(|builder| builder.decompress(true));
    for (name, value, asked) in [("accept-encoding", "identity", "identity"), ("range", "bytes=0-1", "-")] {
        let response = client.get(&origin).header(name, value).send().await.unwrap();
        assert_eq!(response.headers().get("x-asked"), Some(asked.as_bytes()));
    }
    let response = client.get(&origin).decompress(false).send().await.unwrap();
    assert_eq!(response.headers().get("x-asked"), Some(&b"-"[..]));
}

#[tokio::test]
async fn nothing_and_what_is_not_known_never_fail() {
    let origin = serve(answer).await;
    for client in clients(|builder| builder.decompress(true)) {
        assert_eq!(read(&client, &format!("{origin}/empty")).await.unwrap(), "");
        let url = format!("{origin}/gzip");
        let mut response = client.head(&url).send().await.unwrap();
        assert!(response.content_length().is_some());
        assert_eq!(response.bytes_max(0).await.unwrap(), &b""[..]);
        let url = format!("{origin}/unknown");
        let mut response = client.get(&url).send().await.unwrap();
        assert!(!response.is_decoded());
        assert_eq!(response.bytes_max(5).await.unwrap(), &b"uryyb"[..]);
    }
}

#[tokio::test]
async fn what_cannot_be_decoded_is_an_error_that_says_why() {
    let origin = serve(answer).await;
    for client in clients(|builder| builder.decompress(true).decoded_max(6 << 20)) {
        for (path, why) in [
            ("/cut", "ends before it is whole"),
            ("/damaged", "gzip"),
            ("/bomb", "more than 100 times"),
            ("/thrice", "more than two codings"),
        ] {
            let error = read(&client, &format!("{origin}{path}")).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::Coding(_) | Cause::Growth(100)), "{path}: {error}");
            assert!(path == "/damaged" || error.to_string().contains(why), "{path}: {error}");
        }
    }
    for client in clients(|builder| builder.decompress(true).decoded_max(1000)) {
        let error = read(&client, &format!("{origin}/gzip")).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::TooLong(1000)), "{error}");
    }
}

/// A server of HTTP/1.1 that sends these bytes, and closes.
async fn raw(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await.unwrap();
        socket.write_all(&bytes).await.unwrap();
    });
    url
}

#[tokio::test]
async fn a_close_that_cuts_coded_content_is_an_error_however_it_is_framed() {
    let coded = gzip(b"content that is long enough to be cut");
    let client = Client::builder().decompress(true).build().unwrap();
    for framing in ["", "Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n{framing}\r\n");
        let chunk = if framing.starts_with('T') { "1000\r\n" } else { "" };
        // After all of the member but a byte: whoever believes the coding has all of the content already.
        for bytes in [1, 11, coded.len() - 8, coded.len() - 1] {
            let url = raw([head.as_bytes(), chunk.as_bytes(), &coded[..bytes]].concat()).await;
            read(&client, &url).await.expect_err("it was cut");
        }
        // All of the member, and the framing lacks its end.
        let url = raw([head.as_bytes(), chunk.as_bytes(), &coded].concat()).await;
        assert_eq!(read(&client, &url).await.is_ok(), framing.is_empty());
    }
}

/// A response that is decoded said `content-encoding: gzip` and the length of the coded content beside
/// content that is neither: a proxy that passed both on broke, and `content_length()` was wrong.
#[tokio::test]
async fn the_head_of_a_decoded_response_tells_of_the_content_that_is_read() {
    let origin = serve(answer).await;
    for client in clients(|builder| builder.decompress(true)) {
        for path in ["/gzip", "/twice"] {
            let mut response = client.get(format!("{origin}{path}")).send().await.unwrap();
            assert_eq!(response.content_length(), None, "{path}");
            assert!(!response.headers().contains("content-encoding"), "{path}");
            assert!(!response.headers().contains("content-length"), "{path}");
            assert!(response.headers().contains("x-asked"), "{path}: others stay");
            let received = response.received_headers();
            let length = received.text("content-length").and_then(|digits| digits.parse::<usize>().ok());
            assert_eq!(length, Some(if path == "/gzip" { CODED.len() } else { CODED_TWICE.len() }));
            assert_eq!(received.len(), response.headers().len() + 2);
            assert!(response.bytes().await.unwrap() == *TEXT, "{path}");
        }
        let (writer, pending) = client.get(format!("{origin}/gzip")).open().await.unwrap();
        writer.finish().await.unwrap();
        let response = pending.response().await.unwrap();
        assert_eq!((response.content_length(), response.headers().get("content-encoding")), (None, None));
        // The answer to HEAD, a coding that is not known, and content that is not there stay as they came.
        let response = client.head(format!("{origin}/gzip")).send().await.unwrap();
        assert!(response.content_length().is_some() && response.headers().contains("content-encoding"));
        for path in ["/unknown", "/empty"] {
            let response = client.get(format!("{origin}{path}")).send().await.unwrap();
            assert!(response.content_length().is_some() && response.headers().contains("content-encoding"));
        }
    }
}
