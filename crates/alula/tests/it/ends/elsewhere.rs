//! Requests that a server wants sent in another way: over HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113 §7), or on
//! another connection (421, RFC 9110 §15.5.20).

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use alula::{Cause, Client, ClientBuilder, Content, Error, Response, Version, h2::ErrorCode};
use tokio::time::timeout;

use super::goaway::{goaway, no_content};
use super::peer::{FOREVER, Wire, listen};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const SETTINGS_ACK: [u8; 9] = [0, 0, 0, 4, 1, 0, 0, 0, 0];
const NO_CONTENT: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// RST_STREAM with HTTP_1_1_REQUIRED.
fn reset(stream: u32) -> Vec<u8> {
    [&[0, 0, 4, 3, 0][..], &stream.to_be_bytes(), &[0, 0, 0, 13]].concat()
}

/// `:status: 421` with END_STREAM.
fn misdirected(stream: u32) -> Vec<u8> {
    [&[0, 0, 5, 1, 5][..], &stream.to_be_bytes(), b"\x08\x03421"].concat()
}

/// Reads frames after the preface to the end of the connection, and says what `answer` gives for each stream
/// that ends.
fn talk(wire: &mut Wire, answer: impl Fn(u32) -> Vec<u8>) -> Option<()> {
    talk_at(wire, |kind, flags| matches!(kind, 0 | 1) && flags & 1 == 1, answer)
}

/// The same for each frame of such a kind and flags.
fn talk_at(wire: &mut Wire, is_due: impl Fn(u8, u8) -> bool, answer: impl Fn(u32) -> Vec<u8>) -> Option<()> {
    wire.say(&SETTINGS);
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        wire.read_exact(&mut vec![0; length]).ok()?;
        let said = match (head[3], head[4]) {
            (4, 0) => SETTINGS_ACK.to_vec(),
            (kind, flags) if is_due(kind, flags) => {
                answer(u32::from_be_bytes([head[5], head[6], head[7], head[8]]))
            }
            _ => continue,
        };
        wire.write_all(&said).and_then(|()| wire.flush()).ok()?;
    }
}

/// Reads the rest of a head of which some was read, and its content of a stated length.
fn read_rest(wire: &mut Wire, mut head: Vec<u8>) -> Option<()> {
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        wire.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next());
    wire.read_exact(&mut vec![0; length.map_or(0, |length| length.parse().unwrap())]).ok()
}

/// The way in which a server asks for HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asks {
    /// It resets a request that is whole.
    Reset,
    /// It resets a request when its head is there.
    ResetEarly,
    /// It goes away when a request is whole.
    GoAway,
}

/// A server that asks for HTTP/1.1. Returns the URL, and the number of requests over HTTP/2.
fn serve_http1(asks: Asks) -> (String, Arc<AtomicUsize>) {
    let http2 = Arc::new(AtomicUsize::new(0));
    let counted = http2.clone();
    let url = listen(true, b"h2,http/1.1", move |_, mut wire| {
        let counted = counted.clone();
        thread::spawn(move || {
            let mut first = vec![0; 24];
            wire.read_exact(&mut first).ok()?;
            if first.starts_with(b"PRI ") {
                let is_due = |kind, flags| match asks {
                    Asks::ResetEarly => kind == 1,
                    Asks::Reset | Asks::GoAway => matches!(kind, 0 | 1) && flags & 1 == 1,
                };
                return talk_at(&mut wire, is_due, |stream| {
                    counted.fetch_add(1, SeqCst);
                    if asks == Asks::GoAway { goaway(0, 13, b"") } else { reset(stream) }
                });
            }
            read_rest(&mut wire, first)?;
            wire.say(NO_CONTENT);
            while wire.read_request() {
                wire.say(NO_CONTENT);
            }
            Some(())
        });
    });
    (url, http2)
}

fn builder() -> ClientBuilder {
    Client::builder().no_proxy().trust_anything()
}

async fn soon(call: impl Future<Output = Result<Response, Error>>) -> Result<(u16, Version), Error> {
    let response = timeout(FOREVER, call).await.expect("it ends")?;
    Ok((response.status().as_u16(), response.version()))
}

#[tokio::test]
async fn what_requires_http1_is_sent_over_http1() {
    for asks in [Asks::Reset, Asks::GoAway] {
        let (url, http2) = serve_http1(asks);
        let client = builder().build().unwrap();
        assert_eq!(soon(client.post(&url).send_body("1")).await.unwrap(), (204, Version::Http1));
        assert_eq!(
            soon(client.put(&url).content(Content::bytes("1")).send()).await.unwrap(),
            (204, Version::Http1)
        );
        let prepared = client.prepare("GET", &url).unwrap().build().unwrap();
        assert_eq!(soon(client.call(&prepared).send()).await.unwrap(), (204, Version::Http1));
        assert_eq!(http2.load(SeqCst), 1, "it is remembered");
    }
}

#[tokio::test]
async fn content_that_is_spent_is_not_sent_again_and_the_origin_is_remembered() {
    let (url, http2) = serve_http1(Asks::Reset);
    let client = builder().build().unwrap();
    let error =
        soon(client.post(&url).content(Content::reader(&b"1"[..])).send()).await.expect_err("it is spent");
    assert!(error.asks_for_http1(), "{error}");
    assert!(error.to_string().contains("over HTTP/1.1 alone"), "{error}");
    let again = client.post(&url).content(Content::reader(&b"1"[..])).header("content-length", "1");
    assert_eq!(soon(again.send()).await.unwrap(), (204, Version::Http1));
    assert_eq!(http2.load(SeqCst), 1);
}

/// The call itself is sent once; the next one goes by the other way.
#[tokio::test]
async fn an_opened_call_that_requires_http1_is_remembered() {
    for asks in [Asks::Reset, Asks::GoAway] {
        let (url, http2) = serve_http1(asks);
        let client = builder().build().unwrap();
        let (mut writer, response) = client.post(&url).open().await.unwrap();
        writer.write("1").await.unwrap();
        writer.finish().await.unwrap();
        let error =
            timeout(FOREVER, response.response()).await.expect("it ends").expect_err("it is sent once");
        assert!(error.asks_for_http1(), "{error}");
        assert_eq!(soon(client.get(&url).send()).await.unwrap(), (204, Version::Http1));
        assert_eq!(http2.load(SeqCst), 1, "{asks:?}");
    }
}

#[tokio::test]
async fn an_opened_call_without_content_that_requires_http1_is_remembered() {
    let (url, http2) = serve_http1(Asks::Reset);
    let client = builder().build().unwrap();
    let (writer, response) = client.get(&url).open().await.unwrap();
    writer.finish().await.unwrap();
    let error = timeout(FOREVER, response.response()).await.expect("it ends").expect_err("it is sent once");
    assert!(error.asks_for_http1(), "{error}");
    let (writer, response) = client.get(&url).open().await.unwrap();
    writer.finish().await.unwrap();
    assert_eq!(soon(response.response()).await.unwrap(), (204, Version::Http1));
    assert_eq!(http2.load(SeqCst), 1);
}

/// The writer alone hears of it.
#[tokio::test]
async fn a_writer_that_fails_since_http1_is_required_is_enough() {
    let (url, http2) = serve_http1(Asks::ResetEarly);
    let client = builder().build().unwrap();
    let (mut writer, _response) = client.post(&url).open().await.unwrap();
    let written = async { while writer.write([0; 4096]).await.is_ok() {} };
    timeout(FOREVER, written).await.expect("it ends");
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), (204, Version::Http1));
    assert_eq!(http2.load(SeqCst), 1);
}

#[tokio::test]
async fn a_client_of_http2_alone_goes_on_with_the_connection() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let url = listen(true, b"h2", move |_, mut wire| {
        counted.fetch_add(1, SeqCst);
        thread::spawn(move || {
            wire.read_exact(&mut [0; 24]).ok()?;
            talk(&mut wire, |stream| if stream == 1 { reset(stream) } else { no_content(stream) })
        });
    });
    let client = builder().http2_only().build().unwrap();
    assert!(soon(client.get(&url).send()).await.expect_err("there is no other way").asks_for_http1());
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), (204, Version::Http2));
    assert_eq!(connections.load(SeqCst), 1);
}

#[test]
fn an_opened_call_of_a_blocking_client_that_requires_http1_is_remembered() {
    let (url, http2) = serve_http1(Asks::Reset);
    let client = builder().build_blocking().unwrap();
    let (mut writer, response) = client.post(&url).open().unwrap();
    writer.write_all(b"1").unwrap();
    writer.finish().unwrap();
    assert!(response.response().expect_err("it is sent once").asks_for_http1());
    let response = client.get(&url).send().unwrap();
    assert_eq!((response.status().as_u16(), response.version()), (204, Version::Http1));
    assert_eq!(http2.load(SeqCst), 1);
}

#[tokio::test]
async fn a_client_of_http2_alone_is_told() {
    let (url, _) = serve_http1(Asks::Reset);
    let client = builder().http2_only().build().unwrap();
    let error = soon(client.get(&url).send()).await.expect_err("there is no other way");
    assert!(matches!(error.cause(), Cause::Reset(ErrorCode::HTTP_1_1_REQUIRED)), "{error}");
    assert!(error.to_string().contains("over HTTP/1.1 alone"), "{error}");
}

#[test]
fn a_blocking_client_asks_over_http1_too() {
    let (url, http2) = serve_http1(Asks::Reset);
    let client = builder().build_blocking().unwrap();
    let response = client.get(&url).send().unwrap();
    assert_eq!((response.status().as_u16(), response.version()), (204, Version::Http1));
    assert_eq!(http2.load(SeqCst), 1);
}

/// A server that answers 421 on its first `wrong` connections. Returns the URL, and the number of requests.
fn serve_elsewhere(http2: bool, wrong: usize) -> (String, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    let url = listen(false, b"", move |number, mut wire| {
        let counted = counted.clone();
        thread::spawn(move || {
            if http2 {
                wire.read_exact(&mut [0; 24]).ok()?;
                return talk(&mut wire, |stream| {
                    counted.fetch_add(1, SeqCst);
                    if number < wrong { misdirected(stream) } else { no_content(stream) }
                });
            }
            while wire.read_request() {
                counted.fetch_add(1, SeqCst);
                wire.say(match number < wrong {
                    true => b"HTTP/1.1 421 Misdirected Request\r\ncontent-length: 5\r\n\r\nelse.",
                    false => NO_CONTENT,
                });
            }
            Some(())
        });
    });
    (url, requests)
}

#[tokio::test]
async fn a_misdirected_request_is_sent_again_once_on_another_connection() {
    for http2 in [false, true] {
        for (wrong, status) in [(1, 204), (9, 421)] {
            let (url, requests) = serve_elsewhere(http2, wrong);
            let client = if http2 { builder().http2_only() } else { builder() }.build().unwrap();
            let (came, _) = soon(client.post(&url).send_body("1")).await.unwrap();
            assert_eq!((came, requests.load(SeqCst)), (status, 2), "http2 {http2}");
        }
        let (url, requests) = serve_elsewhere(http2, 1);
        let client = if http2 { builder().http2_only() } else { builder() }.build().unwrap();
        let spent = client.post(&url).content(Content::reader_of(&b"1"[..], 1));
        assert_eq!(soon(spent.send()).await.unwrap().0, 421, "http2 {http2}");
        assert_eq!(requests.load(SeqCst), 1);
    }
}

#[test]
fn a_blocking_client_sends_a_misdirected_request_again() {
    let (url, requests) = serve_elsewhere(false, 1);
    let client = builder().build_blocking().unwrap();
    assert_eq!(client.get(&url).send().unwrap().status().as_u16(), 204);
    assert_eq!(requests.load(SeqCst), 2);
}
