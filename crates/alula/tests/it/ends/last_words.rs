//! A client that goes says so, by whatever it goes, before its sockets are closed: GOAWAY over HTTP/2 (RFC
//! 9113 §6.8), the end of TLS (RFC 8446 §6.1), then FIN.

use std::io::Read as _;
use std::sync::mpsc::{Receiver, channel};

use alula::{Client, ClientBuilder};
use tokio::runtime::{Builder, Runtime};

use super::goaway::{goaway, no_content, read_request};
use super::peer::{FOREVER, Wire, listen};

/// The ways in which a program lets go of its client.
#[derive(Clone, Copy, Debug)]
enum Leaving {
    /// It drops it, and its runtime at once.
    Dropped,
    /// It ends its runtime, and keeps the client.
    RuntimeEnds,
    /// It drops a client without a runtime of the program's.
    Blocking,
}

/// Answers one request, and tells what came until the client closed; an error if that was before TLS had
/// ended.
fn origin(with_tls: bool, http2: bool) -> (String, Receiver<std::io::Result<Vec<u8>>>) {
    let (tell, told) = channel();
    let protocol: &[u8] = if http2 { b"h2" } else { b"http/1.1" };
    let url = listen(with_tls, protocol, move |_, mut wire| {
        answer(&mut wire, http2);
        let mut rest = Vec::new();
        let read = wire.read_to_end(&mut rest);
        tell.send(read.map(|_| rest)).unwrap();
    });
    (url, told)
}

fn answer(wire: &mut Wire, http2: bool) {
    if http2 {
        let stream = read_request(wire, true);
        wire.say(&no_content(stream));
    } else {
        assert!(wire.read_request());
        wire.say(b"HTTP/1.1 204 No Content\r\n\r\n");
    }
}

fn client(http2: bool) -> ClientBuilder {
    let builder = Client::builder().no_proxy().trust_anything();
    if http2 { builder.http2_only() } else { builder.http1_only() }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn ask_and_leave(leaving: Leaving, http2: bool, url: &str) {
    match leaving {
        Leaving::Dropped => runtime().block_on(async {
            let client = client(http2).build().unwrap();
            assert_eq!(client.get(url).send().await.unwrap().status().as_u16(), 204);
        }),
        Leaving::RuntimeEnds => {
            let client = client(http2).build().unwrap();
            let ask = async { client.get(url).send().await.unwrap().status().as_u16() };
            assert_eq!(runtime().block_on(ask), 204);
            std::mem::forget(client);
        }
        Leaving::Blocking => {
            let client = client(http2).build_blocking().unwrap();
            assert_eq!(client.get(url).send().unwrap().status().as_u16(), 204);
        }
    }
}

#[test]
fn the_server_is_told_that_the_client_goes() {
    for leaving in [Leaving::Dropped, Leaving::RuntimeEnds, Leaving::Blocking] {
        for (with_tls, http2) in [(false, false), (false, true), (true, false), (true, true)] {
            let (url, told) = origin(with_tls, http2);
            ask_and_leave(leaving, http2, &url);
            let case = format!("{leaving:?}, TLS: {with_tls}, HTTP/2: {http2}");
            let rest = told.recv_timeout(FOREVER).expect(&case);
            let rest = rest.unwrap_or_else(|error| panic!("{case}: {error}"));
            let last_words = if http2 { goaway(0, 0, b"") } else { Vec::new() };
            assert!(rest.ends_with(&last_words) && (http2 || rest.is_empty()), "{case}: {rest:x?}");
        }
    }
}
