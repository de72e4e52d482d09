//! A connection of HTTP/2 whose peer says nothing any more is asked, and is not used again before it has
//! answered.
//!
//! A network that drops what it is given lets a connection look alive: of 148 calls with a timeout of 500 ms
//! each went on the same connection, and failed, for as long as TCP waited.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use alula::{Client, ClientBuilder, Error, Response};
use tokio::time::timeout;

use super::goaway::no_content;
use super::peer::{FOREVER, Wire, listen};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const SETTINGS_ACK: [u8; 9] = [0, 0, 0, 4, 1, 0, 0, 0, 0];

/// The time that a call is given that meets silence.
const SHORT: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Silence {
    /// Nothing is answered.
    Whole,
    /// Requests are not answered; PINGs are.
    OfRequests,
}

/// A server that answers on each connection but the first, where it answers the first request and those from
/// `again` on. Returns the URL, and the number of its connections.
fn serve(silence: Silence, again: usize) -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let url = listen(false, b"h2", move |number, wire| {
        counted.fetch_add(1, SeqCst);
        thread::spawn(move || {
            talk(wire, |frame| match frame {
                Frame::Ping => number > 0 || silence == Silence::OfRequests,
                Frame::Request(index) => number > 0 || index == 0 || index >= again,
            });
        });
    });
    (url, count)
}

enum Frame {
    Ping,
    Request(usize),
}

/// Reads frames to the end of the connection, and answers those that are to be answered.
fn talk(mut wire: Wire, answers: impl Fn(Frame) -> bool) -> Option<()> {
    wire.read_exact(&mut [0; 24]).ok()?;
    wire.say(&SETTINGS);
    let mut requests = 0;
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        wire.read_exact(&mut payload).ok()?;
        match (head[3], head[4]) {
            (4, 0) => wire.say(&SETTINGS_ACK),
            (6, 0) if answers(Frame::Ping) => {
                wire.say(&[&[0, 0, 8, 6, 1, 0, 0, 0, 0][..], &payload].concat());
            }
            (0 | 1, flags) if flags & 1 == 1 => {
                if answers(Frame::Request(requests)) {
                    wire.say(&no_content(u32::from_be_bytes([head[5], head[6], head[7], head[8]])));
                }
                requests += 1;
            }
            _ => {}
        }
    }
}

fn builder() -> ClientBuilder {
    Client::builder().no_proxy().http2_only()
}

async fn soon(call: impl Future<Output = Result<Response, Error>>) -> Result<u16, Error> {
    let response = timeout(FOREVER, call).await.expect("it waits for ever");
    response.map(|response| response.status().as_u16())
}

#[tokio::test]
async fn after_a_timeout_without_a_byte_calls_go_on_another_connection() {
    for most in [1, 2] {
        let (url, connections) = serve(Silence::Whole, usize::MAX);
        let client = builder().http2_connections_max(most).build().unwrap();
        assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
        let late = soon(client.get(&url).timeout(SHORT).send()).await.expect_err("nobody answers");
        assert!(late.is_timeout(), "{late}");
        assert_eq!(soon(client.get(&url).timeout(FOREVER / 4).send()).await.unwrap(), 204);
        assert_eq!(connections.load(SeqCst), 2);
    }
}

#[tokio::test]
async fn a_prepared_call_goes_on_another_connection_as_well() {
    let (url, connections) = serve(Silence::Whole, usize::MAX);
    let client = builder().build().unwrap();
    let prepared = client.prepare("GET", &url).unwrap().build().unwrap();
    assert_eq!(soon(client.call(&prepared).send()).await.unwrap(), 204);
    soon(client.call(&prepared).timeout(SHORT).send()).await.expect_err("nobody answers");
    assert_eq!(soon(client.call(&prepared).timeout(FOREVER / 4).send()).await.unwrap(), 204);
    assert_eq!(connections.load(SeqCst), 2);
}

#[tokio::test]
async fn a_call_that_is_dropped_after_more_than_a_second_is_a_timeout() {
    let (url, connections) = serve(Silence::Whole, usize::MAX);
    let client = builder().build().unwrap();
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
    let dropped = timeout(Duration::from_millis(1_500), client.get(&url).send()).await;
    assert!(dropped.is_err());
    assert_eq!(soon(client.get(&url).timeout(FOREVER / 4).send()).await.unwrap(), 204);
    assert_eq!(connections.load(SeqCst), 2);
}

#[tokio::test]
async fn a_connection_that_answers_is_used_again() {
    let (url, connections) = serve(Silence::OfRequests, 2);
    let client = builder().build().unwrap();
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
    soon(client.get(&url).timeout(SHORT).send()).await.expect_err("nobody answers");
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
    assert_eq!(connections.load(SeqCst), 1);
}

/// The peer has less time to answer a PING than five seconds, if less was set.
#[tokio::test]
async fn the_other_calls_of_a_silent_connection_fail_as_not_answered() {
    let (url, connections) = serve(Silence::Whole, usize::MAX);
    let client = builder().keep_alive(FOREVER, Duration::from_secs(1)).build().unwrap();
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
    let late = async { soon(client.get(&url).timeout(SHORT).send()).await.expect_err("nobody answers") };
    let get = soon(client.get(&url).send());
    let post = soon(client.post(&url).send_body("1"));
    let (late, get, post) = tokio::join!(late, get, post);
    assert!(late.is_timeout(), "{late}");
    assert_eq!(get.expect("it is sent again"), 204);
    let post = post.expect_err("it is not sent again");
    assert!(post.is_unanswered() && post.is_timeout(), "{post:?}");
    assert_eq!(connections.load(SeqCst), 2);
}

#[test]
fn a_blocking_client_opens_another_connection_too() {
    let (url, connections) = serve(Silence::Whole, usize::MAX);
    let client = builder().build_blocking().unwrap();
    assert_eq!(client.get(&url).send().unwrap().status().as_u16(), 204);
    assert!(client.get(&url).timeout(SHORT).send().is_err_and(|error| error.is_timeout()));
    assert_eq!(client.get(&url).timeout(FOREVER / 4).send().unwrap().status().as_u16(), 204);
    assert_eq!(connections.load(SeqCst), 2);
}

/// Over HTTP/1.1 a call that is given up ends its connection.
#[tokio::test]
async fn a_connection_of_http1_is_not_used_again() {
    let url = listen(false, b"http/1.1", |number, mut wire| {
        thread::spawn(move || {
            for request in 0.. {
                if !wire.read_request() {
                    return;
                }
                if number > 0 || request == 0 {
                    wire.say(b"HTTP/1.1 204 No Content\r\n\r\n");
                }
            }
        });
    });
    let client = Client::builder().no_proxy().build().unwrap();
    assert_eq!(soon(client.get(&url).send()).await.unwrap(), 204);
    soon(client.get(&url).timeout(SHORT).send()).await.expect_err("nobody answers");
    assert_eq!(soon(client.get(&url).timeout(FOREVER / 4).send()).await.unwrap(), 204);
}
