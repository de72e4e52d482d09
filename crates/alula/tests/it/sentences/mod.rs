//! The sentences of failures that the program `alula` cannot show by itself: looking up, waiting for a
//! connection, a reader that fails. The others are a table in the tests of the program. No sentence shows
//! text from elsewhere unescaped.

mod hostile;
mod secrets;

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use alula::{Client, ClientBuilder, Content, Error, Exchange, Resolving, Status};
use tokio::io::{AsyncRead, ReadBuf};

use crate::support::{client, serve};

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_host_that_takes_too_long_to_look_up() {
    let silent = |_: &str, _: u16| -> Resolving<'static> { Box::pin(pending()) };
    for (builder, url) in [
        (Client::builder().resolve_timeout(SHORT), "http://a.example/?b=c"),
        (Client::builder().timeout(SHORT), "https://a.example/?b=c"),
    ] {
        let client = builder.resolver(silent).build().unwrap();
        let sentence = client.get(url).send().await.unwrap_err().to_string();
        let url = url.replace("=c", "=…");
        assert_eq!(sentence, format!("GET {url}: timed out after 0.05 s looking up the host"));
    }
}

#[tokio::test]
async fn a_resolver_that_fails() {
    let failing = |_: &str, _: u16| -> Resolving<'static> {
        Box::pin(async { Err(io::Error::other("The zone is empty")) })
    };
    let client = Client::builder().resolver(failing).build().unwrap();
    let sentence = client.get("http://a.example/").send().await.unwrap_err().to_string();
    assert_eq!(sentence, "GET http://a.example/: could not resolve host a.example: the zone is empty");
}

/// A server that answers with content, and its address.
async fn start() -> String {
    let origin = serve(async |mut exchange: Exchange| -> Result<_, Error> {
        while exchange.body().chunk().await?.is_some() {}
        exchange.respond(Status::OK).send(&vec![0; 4 << 20]).await
    })
    .await;
    origin + "/"
}

#[tokio::test]
async fn a_connection_that_is_waited_for_too_long() {
    let url = start().await;
    let builder: fn() -> ClientBuilder = || Client::builder().connections_max(1);
    for builder in [builder().queue_timeout(SHORT), builder().timeout(SHORT)] {
        let client = builder.build().unwrap();
        let _unread = client.get(&url).timeout(Duration::from_secs(60)).send().await.unwrap();
        let sentence = client.get(&url).send().await.unwrap_err().to_string();
        let reason = "timed out after 0.05 s waiting for a connection: 1 response from this origin is unread";
        assert_eq!(sentence, format!("GET {url}: {reason}"));
    }
}

/// A reader that gives a little and fails.
struct Failing(bool);

impl AsyncRead for Failing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(Err(io::Error::other("The disk is gone")));
        }
        out.put_slice(b"some");
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_reader_that_fails() {
    let url = start().await;
    for http2 in [false, true] {
        let client = client(http2);
        let content = Content::reader(Failing(false));
        let error = client.put(&url).content(content).send().await.unwrap_err();
        assert_eq!(error.to_string(), format!("PUT {url}: the content could not be read: the disk is gone"));
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "The disk is gone");
    }
}
