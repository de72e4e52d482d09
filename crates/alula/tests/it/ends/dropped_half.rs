//! A stream that its own side resets is told to both of its halves: nobody waits on a stream that is gone.
//!
//! A caller that had opened an upload over HTTP/2 and whose sender failed waited for the response for ever:
//! RST_STREAM(CANCEL) had gone out with the dropped writer, and the reading half was not woken.

use std::{future::Future, net::SocketAddr, sync::mpsc, thread};

use alula::{
    BodyWriter, Cause, Client, Content, Error, Exchange, Fault, PendingResponse, Sent, Server, Status,
};
use tokio::{sync::oneshot, time::timeout};

use super::peer::FOREVER;

use crate::support::{listen, serve};

/// A server that answers `/late` once the content is whole, and `/early` with the head and a byte before it.
async fn start() -> SocketAddr {
    listen(Server::builder(), |mut exchange: Exchange| async move {
        if exchange.request().path() == "/silent" {
            std::future::pending::<()>().await;
        }
        if exchange.request().path() == "/late" {
            while exchange.body().chunk().await?.is_some() {}
            return exchange.respond(Status::OK).send("").await;
        }
        let (_, mut body, reply) = exchange.split();
        let mut writer = reply.respond(Status::OK).stream().await?;
        writer.write("1").await?;
        while body.chunk().await?.is_some() {}
        writer.finish().await
    })
    .await
}

fn client(http2: bool) -> Client {
    let builder = Client::builder().no_proxy();
    if http2 { builder.http2_only().build().unwrap() } else { builder.build().unwrap() }
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(FOREVER, work).await.expect("it waits for ever")
}

/// Opens an upload of a stated length of ten bytes.
async fn open(http2: bool, address: SocketAddr, path: &str) -> (BodyWriter, PendingResponse) {
    let url = format!("http://{address}{path}");
    client(http2).post(&url).header("content-length", "10").open().await.unwrap()
}

fn is_of_the_sender(error: &Error) {
    assert!(matches!(error.cause(), Cause::Unfinished), "{error}");
    assert_eq!(error.fault(), Fault::Caller, "{error}");
    assert!(error.to_string().contains("the writer of the content was dropped"), "{error}");
}

#[tokio::test]
async fn the_response_fails_when_the_writer_is_dropped() {
    let address = start().await;
    for http2 in [true, false] {
        let (writer, pending) = open(http2, address, "/late").await;
        drop(writer);
        is_of_the_sender(&soon(pending.response()).await.expect_err("it was reset"));
    }
}

#[tokio::test]
async fn a_reader_that_waits_already_is_woken() {
    let address = start().await;
    for http2 in [true, false] {
        let (writer, pending) = open(http2, address, "/late").await;
        let waits = tokio::spawn(pending.response());
        tokio::task::yield_now().await;
        drop(writer);
        is_of_the_sender(&soon(waits).await.unwrap().expect_err("it was reset"));
    }
}

#[tokio::test]
async fn the_content_fails_when_the_writer_is_dropped_after_the_head_came() {
    let address = start().await;
    for http2 in [true, false] {
        let (writer, pending) = open(http2, address, "/early").await;
        let mut response = soon(pending.response()).await.unwrap();
        assert_eq!(soon(response.body().chunk()).await.unwrap(), Some(&b"1"[..]));
        drop(writer);
        is_of_the_sender(&soon(response.body().chunk()).await.expect_err("it was reset"));
    }
}

#[tokio::test]
async fn the_response_fails_when_the_length_is_not_kept() {
    let address = start().await;
    for http2 in [true, false] {
        let (mut writer, pending) = open(http2, address, "/late").await;
        writer.write("abc").await.unwrap();
        let error = writer.finish().await.expect_err("seven bytes are missing");
        assert!(matches!(error.cause(), Cause::Refused(_)), "{error}");
        is_of_the_sender(&soon(pending.response()).await.expect_err("it was reset"));

        let (mut writer, pending) = open(http2, address, "/late").await;
        let error = writer.write("0123456789a").await.expect_err("it is one byte more");
        assert!(matches!(error.cause(), Cause::Refused(_)), "{error}");
        drop(writer);
        is_of_the_sender(&soon(pending.response()).await.expect_err("it was reset"));
    }
}

/// The shape of `examples/client/upload.rs` when the file grows after its length was stated.
#[tokio::test]
async fn a_sender_that_fails_beside_the_response_ends_both() {
    let address = start().await;
    for http2 in [true, false] {
        let (mut writer, pending) = open(http2, address, "/late").await;
        let send = async move {
            writer.write("0123456").await?;
            writer.write("789ab").await?;
            writer.finish().await
        };
        let (sent, response) = soon(async { tokio::join!(send, pending.response()) }).await;
        assert!(matches!(sent.unwrap_err().cause(), Cause::Refused(_)));
        is_of_the_sender(&response.expect_err("it was reset"));
    }
}

/// A reader with less than a field had stated hung `send` the same way. The caller is told of the mistake
/// itself.
#[tokio::test]
async fn content_that_is_shorter_than_stated_fails_its_call() {
    let address = start().await;
    for http2 in [true, false] {
        let content = Content::reader(&b"abc"[..]);
        let (client, url) = (client(http2), format!("http://{address}/late"));
        let error = soon(client.post(&url).header("content-length", "10").content(content).send())
            .await
            .expect_err("seven bytes are missing");
        assert!(matches!(error.cause(), Cause::Refused(_)), "{error}");
        assert_eq!(error.fault(), Fault::Caller, "{error}");
    }
}

#[tokio::test]
async fn a_writer_that_waits_is_woken_when_the_response_is_dropped() {
    let address = start().await;
    for http2 in [true, false] {
        let url = format!("http://{address}/silent");
        let (mut writer, pending) = client(http2).post(&url).open().await.unwrap();
        let (began, has_begun) = oneshot::channel();
        let writes = tokio::spawn(async move {
            let mut began = Some(began);
            loop {
                writer.write([0; 100_000]).await?;
                began.take().into_iter().for_each(|began| began.send(()).unwrap());
            }
            #[expect(unreachable_code, reason = "it names the type of the error")]
            Ok::<(), Error>(())
        });
        soon(has_begun).await.unwrap();
        drop(pending);
        let error = soon(writes).await.unwrap().expect_err("it was reset");
        assert!(matches!(error.cause(), Cause::Cancelled), "{error}");
    }
}

#[tokio::test]
async fn a_blocking_caller_is_told_too() {
    let address = start().await;
    for http2 in [true, false] {
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let builder = alula::blocking::Client::builder().no_proxy();
            let client = if http2 { builder.http2_only() } else { builder }.build_blocking().unwrap();
            let url = format!("http://{address}/late");
            let (writer, pending) = client.post(&url).header("content-length", "10").open().unwrap();
            drop(writer);
            tell.send(pending.response().err()).unwrap();
        });
        let error = tokio::task::spawn_blocking(move || told.recv_timeout(FOREVER)).await.unwrap();
        is_of_the_sender(&error.expect("the thread hangs").expect("it was reset"));
    }
}

/// On a server: content that is waited for beside an answer whose writer is dropped.
#[tokio::test]
async fn a_handler_that_waits_for_content_hears_that_its_writer_was_dropped() {
    for http2 in [true, false] {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let url = serve(move |exchange: Exchange| {
            let tell = tell.clone();
            async move {
                let (_, mut body, reply) = exchange.split();
                tokio::spawn(async move { tell.send(body.chunk().await.map(drop)) });
                let mut writer = reply.respond(Status::OK).stream().await?;
                writer.write("1").await?;
                drop(writer);
                Err::<Sent, _>(Error::usage("the answer was dropped"))
            }
        })
        .await
            + "/";
        let (writer, _pending) = client(http2).post(&url).open().await.unwrap();
        let error = soon(told.recv()).await.unwrap().expect_err("the stream was reset");
        assert!(matches!(error.cause(), Cause::Unfinished), "http2 {http2}: {error}");
        drop(writer);
    }
}
