//! Bytes that come on a connection between two requests, while nobody reads it, are looked at before the
//! connection is used again.

use std::io::Read as _;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use alula::{Client, ClientBuilder, Destination, Error, Proxy, Response, Transport, blocking};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::peer::{FOREVER, Wire, listen, tunnel};

const SECOND: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison";
const LATE: &str = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What the first connection does between its two requests.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// Says these bytes, and then ends or does not.
    Says(&'static str, bool),
    Ends,
    /// Changes its keys, which is no application data.
    UpdatesKeys,
}

/// A server that answers each request with the number of its connection. When it is told to, the first one
/// does something.
struct Peer {
    url: String,
    go: Sender<()>,
    done: Receiver<()>,
}

impl Peer {
    fn start(with_tls: bool, between: Between) -> Self {
        Self::start_behind(with_tls, between, |wire| wire)
    }

    /// The same, when connections have come as far as `enter` brings them.
    fn start_behind(with_tls: bool, between: Between, enter: fn(Wire) -> Wire) -> Self {
        let ((go, gone), (did, done)) = (channel(), channel());
        let ends = Mutex::new((gone, did));
        let url = listen(with_tls, b"http/1.1", move |number, wire| {
            if number > 0 {
                thread::spawn(move || {
                    let mut wire = enter(wire);
                    while wire.read_request() {
                        answer(&mut wire, number)
                    }
                });
                return;
            }
            let (gone, did) = &*ends.lock().unwrap();
            let mut wire = enter(wire);
            assert!(wire.read_request());
            answer(&mut wire, number);
            gone.recv().unwrap();
            let rest = act(wire, between);
            did.send(()).unwrap();
            if let Some(mut wire) = rest {
                while wire.read_request() {
                    answer(&mut wire, number);
                }
            }
        });
        Self { url, go, done }
    }

    /// Has the first connection act, and waits until it has, without letting the runtime of this thread run.
    fn act(&self) {
        self.go.send(()).unwrap();
        self.done.recv_timeout(FOREVER).unwrap();
    }
}

fn answer(wire: &mut Wire, number: usize) {
    wire.say(format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}").as_bytes());
}

fn act(mut wire: Wire, between: Between) -> Option<Wire> {
    match between {
        Between::Says(bytes, ends) => {
            wire.say(bytes.as_bytes());
            if ends {
                wire.end();
                return None;
            }
        }
        Between::Ends => {
            wire.end();
            return None;
        }
        Between::UpdatesKeys => {
            let Wire::Tls(stream) = &mut wire else { panic!("keys are TLS's") };
            stream.conn.refresh_traffic_keys().unwrap();
            wire.say(b"");
        }
    }
    Some(wire)
}

const CASES: [(Between, &str); 4] = [
    (Between::Says(SECOND, false), "H1_UNSOLICITED"),
    (Between::Says(SECOND, true), "H1_UNSOLICITED"),
    (Between::Says(LATE, true), ""),
    (Between::Ends, ""),
];

fn builder() -> ClientBuilder {
    Client::builder().no_proxy().trust_anything()
}

async fn text(response: Result<Response, Error>) -> String {
    let mut content = String::new();
    response.unwrap().body().read_to_string(&mut content).await.unwrap();
    content
}

/// Posts twice, the second time right after the peer has acted.
async fn post_twice(client: &Client, url: &str, act: impl FnOnce()) -> [String; 2] {
    let first = text(timeout(FOREVER, client.post(url).send_body(b"1")).await.unwrap()).await;
    act();
    let second = text(timeout(FOREVER, client.post(url).send_body(b"2")).await.unwrap()).await;
    [first, second]
}

#[tokio::test]
async fn a_connection_that_has_ended_or_said_something_is_not_used_again() {
    for with_tls in [false, true] {
        for (between, counter) in CASES {
            for _ in 0..5 {
                let peer = Peer::start(with_tls, between);
                let client = builder().build().unwrap();
                let answers = post_twice(&client, &peer.url, || peer.act()).await;
                assert_eq!(answers, ["0", "1"], "tls {with_tls}: {between:?}");
                let counted: Vec<_> = client.ledger().counts().filter(|(_, count)| *count > 0).collect();
                let expected = if counter.is_empty() { vec![] } else { vec![(counter, 1)] };
                assert_eq!(counted, expected, "tls {with_tls}: {between:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_only_tls_says_does_not_retire_a_connection() {
    let peer = Peer::start(true, Between::UpdatesKeys);
    let client = builder().build().unwrap();
    assert_eq!(post_twice(&client, &peer.url, || peer.act()).await, ["0", "0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_is_where_other_threads_read() {
    for (between, _) in CASES {
        let peer = Peer::start(false, between);
        let client = builder().build().unwrap();
        assert_eq!(post_twice(&client, &peer.url, || peer.act()).await, ["0", "1"], "{between:?}");
    }
}

#[tokio::test]
async fn so_it_is_with_a_proxy_that_takes_requests() {
    for with_tls in [false, true] {
        for (between, _) in CASES {
            let peer = Peer::start(with_tls, between);
            let proxy = Proxy::all(&peer.url).unwrap();
            let client = Client::builder().proxy(proxy).trust_anything().build().unwrap();
            let answers = post_twice(&client, "http://a.example/", || peer.act()).await;
            assert_eq!(answers, ["0", "1"], "tls {with_tls}: {between:?}");
        }
    }
}

/// The proxy is spoken to in clear text or over TLS, the origin over TLS within.
#[tokio::test]
async fn so_it_is_in_tunnels() {
    for with_tls in [false, true] {
        for (between, _) in CASES {
            let peer = Peer::start_behind(with_tls, between, tunnel);
            let proxy = Proxy::all(&peer.url).unwrap();
            let client = Client::builder().proxy(proxy).trust_anything().build().unwrap();
            let answers = post_twice(&client, "https://a.example/", || peer.act()).await;
            assert_eq!(answers, ["0", "1"], "tls to the proxy {with_tls}: {between:?}");
        }
    }
}

#[test]
fn so_it_is_with_a_blocking_client() {
    for with_tls in [false, true] {
        for (between, _) in CASES {
            let peer = Peer::start(with_tls, between);
            let client: blocking::Client = builder().build_blocking().unwrap();
            let mut answers = Vec::new();
            for round in 0..2 {
                answers.push(client.post(&peer.url).send_body(b"1").unwrap().text_max(10).unwrap());
                if round == 0 {
                    peer.act();
                }
            }
            assert_eq!(answers, ["0", "1"], "tls {with_tls}: {between:?}");
        }
    }
}

/// Over what is no socket, in one task with its peer.
#[tokio::test]
async fn so_it_is_over_a_transport_of_the_users_own() {
    for bytes in [SECOND, LATE, ""] {
        let (tell, mut far_ends) = tokio::sync::mpsc::unbounded_channel();
        let connector = move |_: &Destination| {
            let (near, far) = tokio::io::duplex(1000);
            tell.send(far).unwrap();
            async { Ok(Box::new(near) as Box<dyn Transport>) }
        };
        let client = Client::builder().connector(connector).build().unwrap();
        let url = "http://a.example/";
        let mut kept = Vec::new();
        for round in ["0", "1"] {
            let both = async {
                tokio::join!(client.post(url).send_body(b"1"), async {
                    let mut far = far_ends.recv().await.unwrap();
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n1") {
                        request.push(far.read_u8().await.unwrap());
                    }
                    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{round}");
                    far.write_all(answer.as_bytes()).await.unwrap();
                    far
                })
            };
            let (response, mut far) = timeout(FOREVER, both).await.expect("a connection of its own");
            assert_eq!(text(response).await, round, "{bytes}");
            if bytes.is_empty() {
                far.shutdown().await.unwrap();
            }
            far.write_all(bytes.as_bytes()).await.unwrap();
            kept.push(far);
        }
    }
}

/// A connection of HTTP/2 is looked at when it has rested for a millisecond, so the time is part of this.
#[tokio::test]
async fn a_connection_of_http2_hears_goaway_before_it_is_used_again() {
    for with_tls in [false, true] {
        let ((go, gone), (did, done)) = (channel::<()>(), channel());
        let ends = Mutex::new((gone, did));
        let url = listen(with_tls, b"h2", move |number, mut wire| {
            let stream = super::goaway::read_request(&mut wire, true);
            wire.say(&super::goaway::no_content(stream));
            if number == 0 {
                let (gone, did) = &*ends.lock().unwrap();
                gone.recv().unwrap();
                wire.say(&super::goaway::goaway(stream, 0, b""));
                wire.end();
                did.send(()).unwrap();
            } else {
                thread::spawn(move || wire.read_to_end(&mut Vec::new()));
            }
        });
        let client = builder().http2_only().build().unwrap();
        timeout(FOREVER, client.get(&url).send()).await.unwrap().unwrap();
        go.send(()).unwrap();
        done.recv_timeout(FOREVER).unwrap();
        let rests_until = Instant::now() + Duration::from_millis(5);
        while Instant::now() < rests_until {
            // The runtime of this thread does not run.
            std::hint::spin_loop();
        }
        // It is sent once: were it sent on the connection that ends, it would fail.
        let call = async {
            let (writer, pending) = client.post(&url).open().await?;
            writer.finish().await?;
            pending.response().await
        };
        let response = timeout(FOREVER, call).await.unwrap();
        assert_eq!(response.unwrap().status().as_u16(), 204, "tls {with_tls}");
    }
}
