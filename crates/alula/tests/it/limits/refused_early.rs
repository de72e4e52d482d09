//! A request that no connection would ever take is refused before one is opened: nobody hears of it.

use std::time::Duration;

use alula::{Client, Error, Limits, Method, Phase, Retry, blocking};
use tokio::{io::AsyncReadExt as _, io::AsyncWriteExt as _, net::TcpListener};

use crate::support::client;

/// A listener, and a URL that leads to it.
async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// The error is the caller's, and nobody has connected.
async fn expect_refused(listener: &TcpListener, error: Error, what: &str) {
    assert_eq!((error.phase(), error.retry()), (Phase::Build, Retry::Pointless), "{what}: {error}");
    let accepted = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(accepted.is_err(), "{what}: a connection was opened for it");
}

#[tokio::test]
async fn what_no_connection_takes_opens_none() {
    for http2 in [false, true] {
        let (listener, url) = listen().await;
        let client = client(http2);
        let get = || client.get(&url);
        for (what, call) in [
            ("two hosts", get().header("host", "a.example").header("host", "b.example")),
            ("a host that is none", get().header("host", "a b")),
            ("a length that is none", get().header("content-length", "five")),
            ("a length without content", get().header("content-length", "5")),
            ("two lengths", get().header("content-length", "0").header("content-length", "0")),
            ("a method that is no token", client.request("GE T", &url)),
            ("a path that is none", get().path("a b")),
            ("a tunnel with content", client.request("CONNECT", &url).header("content-length", "5")),
        ] {
            // Content that is taken for a tunnel's is not known to HTTP/2 (RFC 9113 §8.5).
            if http2 && what.starts_with("a tunnel") {
                continue;
            }
            let error = call.send().await.err().unwrap();
            expect_refused(&listener, error, &format!("{what}, HTTP/2: {http2}")).await;
        }
        let opened = get().header("content-length", "x").open().await.err().unwrap();
        expect_refused(&listener, opened, "a call that is opened").await;
    }
}

#[tokio::test]
async fn what_one_version_does_not_take_is_refused_where_only_that_one_is_spoken() {
    let (listener, url) = listen().await;
    let http2 = Client::builder().http2_only().build().unwrap();
    let error = http2.get(&url).header("connection", "close").send().await.err().unwrap();
    expect_refused(&listener, error, "connection over HTTP/2").await;
    let https = url.replace("http:", "https:");
    let error = http2.get(&https).header("connection", "close").send().await.err().unwrap();
    expect_refused(&listener, error, "connection over HTTP/2 and TLS").await;
    let http1 = Client::builder().http1_only().build().unwrap();
    let error = http1.request("CONNECT", &url).protocol("websocket").send().await.err().unwrap();
    expect_refused(&listener, error, "an extended CONNECT over HTTP/1.1").await;
}

/// It was sent, and the client closed its own connection for the memory that it held.
#[tokio::test]
async fn a_head_that_no_connection_may_hold_opens_none() {
    let (listener, url) = listen().await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let bytes = Limits::default().connection_memory_bytes as usize;
    let error = client.get(&url).header("x-large", vec![b'x'; bytes]).send().await.err().unwrap();
    assert!(error.to_string().contains("a connection may hold 2097152"), "{error}");
    expect_refused(&listener, error, "a large head").await;
}

#[tokio::test]
async fn a_prepared_request_is_looked_at_as_well() {
    let (listener, url) = listen().await;
    for http2 in [false, true] {
        let client = client(http2);
        let mut prepare = client.prepare(Method::Get, &url).unwrap();
        let hole = prepare.hole("x-id").unwrap();
        let prepared = prepare.build().unwrap();
        for call in [
            client.call(&prepared),
            client.call(&prepared).set(hole, b"a\r\nb: c"),
            client.call(&prepared).set(hole, b"a").path("no path"),
        ] {
            expect_refused(&listener, call.send().await.err().unwrap(), "a prepared request").await;
        }
    }
}

#[test]
fn a_blocking_client_opens_none_either() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (listener, url) = runtime.block_on(listen());
    let client = blocking::Client::new().unwrap();
    for call in [client.get(&url).header("content-length", "x"), client.get("https:///x")] {
        let error = call.send().err().unwrap();
        runtime.block_on(expect_refused(&listener, error, "a blocking call"));
    }
}

/// `https:///x` asked the host `x`.
#[tokio::test]
async fn an_empty_authority_is_no_host() {
    let (listener, url) = listen().await;
    let host = url.strip_prefix("http://").unwrap();
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    for url in [
        format!("http:///{host}"),
        format!("http:{host}"),
        format!("HTTP:\\\\\\{host}"),
        format!("http://\t/{host}"),
        "https:///x".to_owned(),
        "http://:80/".to_owned(),
        "http://user@:80/".to_owned(),
    ] {
        let error = client.get(&url).send().await.err().unwrap();
        expect_refused(&listener, error, &url).await;
        assert!(client.prepare(Method::Get, &url).is_err(), "{url}");
    }
}

/// A `location` of these was followed to the first segment of its path.
#[tokio::test]
async fn a_location_with_an_empty_authority_leads_nowhere() {
    let (elsewhere, url) = listen().await;
    let host = url.strip_prefix("http://").unwrap();
    for location in [format!("///{host}"), format!("http:///{host}"), format!("//\\{host}")] {
        let (listener, url) = listen().await;
        let answer = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut head = [0; 1000];
            assert!(socket.read(&mut head).await.unwrap() > 0);
            let head = format!("HTTP/1.1 302 x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            socket.write_all(head.as_bytes()).await.unwrap();
            socket
        };
        let client = Client::new().unwrap();
        let (response, _socket) = tokio::join!(client.get(&url).send(), answer);
        let error = response.err().unwrap();
        assert!(error.to_string().contains("has no host"), "{location}: {error}");
        assert!(tokio::time::timeout(Duration::ZERO, elsewhere.accept()).await.is_err(), "{location}");
    }
}

/// Both lengths were written: that of the hole, and that of the content.
#[tokio::test]
async fn the_length_in_a_hole_is_the_only_one() {
    for own in [false, true] {
        let (listener, url) = listen().await;
        let client = Client::new().unwrap();
        let mut prepare = client.prepare(Method::Post, &url).unwrap();
        let hole = prepare.hole(if own { "Content-Length" } else { "x-id" }).unwrap();
        let prepared = prepare.build().unwrap();
        let answer = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut seen = Vec::new();
            while !seen.ends_with(b"hello") {
                assert!(socket.read_buf(&mut seen).await.unwrap() > 0);
            }
            socket.write_all(b"HTTP/1.1 204 x\r\n\r\n").await.unwrap();
            String::from_utf8(seen).unwrap().to_lowercase()
        };
        let call = client.call(&prepared).set(hole, b"5").send_body(b"hello");
        let (response, seen) = tokio::join!(call, answer);
        response.unwrap();
        assert_eq!(seen.matches("content-length: 5").count(), 1, "{seen}");
        if own {
            let call = client.call(&prepared).set(hole, b"6").send_body(b"hello");
            assert!(call.await.is_err(), "another length than the content has");
        }
    }
    let client = Client::new().unwrap();
    let mut prepare = client.prepare(Method::Post, "http://127.0.0.1:1/").unwrap();
    prepare.hole("content-length").unwrap();
    prepare.hole("Content-Length").unwrap();
    assert!(prepare.build().is_err(), "two holes for one length");
    let fixed = client.prepare(Method::Post, "http://127.0.0.1:1/").unwrap();
    fixed.header("content-length", b"5").build().unwrap();
}
