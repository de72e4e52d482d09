//! A client of HTTP/1.1 that closes its side has left: its handler is dropped at the next look, whatever the
//! handler waits for, and the connection ends. An answer that was complete in the turn of its request still
//! leaves, and so does every answer where half-closed connections are served.

use std::{sync::atomic::Ordering, time::Duration};

use alula::{Ended, Hook, Server, TransportFacts};
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::{Farewell, Lines, Served, Tells, identity, leave_tls, patient, router};
use crate::ends::peer::FOREVER;

/// A request without content.
fn asking(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n")
}

async fn connect(served: &Served) -> TcpStream {
    TcpStream::connect(served.address).await.unwrap()
}

/// Reads until the server closes.
async fn read_all(socket: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    // A server that closes with bytes unread resets.
    let _ = timeout(FOREVER, socket.read_to_end(&mut read)).await.expect("the server closes");
    String::from_utf8_lossy(&read).into_owned()
}

/// Sends these bytes, waits for the handler, and closes one side; the handler is dropped, and the server
/// closes the other side.
async fn leaves_after(served: &mut Served, bytes: &str) -> String {
    let mut socket = connect(served).await;
    socket.write_all(bytes.as_bytes()).await.unwrap();
    assert_eq!(served.told.next().await, "begun");
    socket.shutdown().await.unwrap();
    assert_eq!(served.told.next().await, "dropped");
    read_all(&mut socket).await
}

#[tokio::test]
async fn a_handler_is_dropped_before_the_head_of_its_answer() {
    let mut served = Served::begin().await;
    assert_eq!(leaves_after(&mut served, &asking("/never")).await, "");
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_after_the_head_of_its_answer() {
    let mut served = Served::begin().await;
    for path in ["/silent", "/events"] {
        let read = leaves_after(&mut served, &asking(path)).await;
        assert!(read.is_empty() || read.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {read}");
    }
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_in_its_task_and_under_tower() {
    let mut served = Served::begin().await;
    for path in ["/spawned", "/tower"] {
        assert_eq!(leaves_after(&mut served, &asking(path)).await, "", "{path}");
    }
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_though_a_further_request_lies_unread() {
    let mut served = Served::begin().await;
    let two = asking("/never") + &asking("/ready");
    assert_eq!(leaves_after(&mut served, &two).await, "");
    assert_eq!(served.told.rest(), [""; 0], "no further handler was begun");
    served.end().await;
}

/// More is sent ahead than is read ahead, so that the end lies unread behind it.
#[tokio::test]
async fn a_handler_is_dropped_though_reading_has_stopped_before_further_requests() {
    let mut served = Served::begin().await;
    let mut bytes = asking("/never");
    while bytes.len() < 100 * 1024 {
        bytes += &asking("/ready");
    }
    leaves_after(&mut served, &bytes).await;
    assert_eq!(served.told.rest(), [""; 0], "no further handler was begun");
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_though_reading_has_stopped_within_content() {
    let limits = alula::Limits { stream_window: 16 * 1024, ..patient() };
    let mut served = Served::with(Server::builder().limits(limits)).await;
    for length in [48 * 1024, 1_000_000] {
        let head = format!("POST /never HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n");
        leaves_after(&mut served, &(head + &"x".repeat(48 * 1024))).await;
    }
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_while_it_reads_content() {
    let mut served = Served::begin().await;
    for content in ["content-length: 10\r\n\r\nhalf", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
        let read = leaves_after(&mut served, &format!("POST /reads HTTP/1.1\r\nhost: a\r\n{content}")).await;
        assert_eq!(read, "");
    }
    served.end().await;
}

/// The output is full, since the client takes nothing, so that nothing is read either.
#[tokio::test]
async fn a_handler_is_dropped_though_its_client_takes_nothing() {
    let mut served = Served::with(Server::builder().limits(patient())).await;
    let mut socket = connect(&served).await;
    socket.write_all(asking("/floods").as_bytes()).await.unwrap();
    assert_eq!(served.told.next().await, "begun");
    // It has filled all room when it writes no more, however often the server runs.
    let (mut written, mut unchanged) = (0, 0);
    while unchanged < 50 {
        let mut other = connect(&served).await;
        other.write_all(asking("/ready").as_bytes()).await.unwrap();
        other.shutdown().await.unwrap();
        assert!(read_all(&mut other).await.ends_with("ready"));
        let now = served.tells.written.load(Ordering::Relaxed);
        unchanged = if now == written { unchanged + 1 } else { 0 };
        written = now;
    }
    socket.shutdown().await.unwrap();
    assert_eq!(served.told.next().await, "dropped");
    drop(socket);
    served.end().await;
}

/// Two clients that had left kept a route of two places for twenty seconds.
#[tokio::test]
async fn a_route_with_few_places_is_alive_after_clients_that_left() {
    let mut served = Served::begin().await;
    let mut sockets = Vec::new();
    for _ in 0..2 {
        let mut socket = connect(&served).await;
        socket.write_all(asking("/two").as_bytes()).await.unwrap();
        assert_eq!(served.told.next().await, "begun");
        sockets.push(socket);
    }
    // These wait for a place and leave the queue. The first of them would have had the next one.
    for _ in 0..2 {
        let mut waits = connect(&served).await;
        waits.write_all(asking("/two").as_bytes()).await.unwrap();
        waits.shutdown().await.unwrap();
        assert_eq!(read_all(&mut waits).await, "");
    }
    for mut socket in sockets {
        socket.shutdown().await.unwrap();
        assert_eq!(served.told.next().await, "dropped");
        assert_eq!(read_all(&mut socket).await, "");
    }
    for _ in 0..2 {
        leaves_after(&mut served, &asking("/two")).await;
    }
    served.end().await;
}

#[tokio::test]
async fn what_is_detached_goes_on() {
    let mut served = Served::begin().await;
    let mut socket = connect(&served).await;
    socket.write_all(asking("/detached").as_bytes()).await.unwrap();
    assert_eq!(served.told.next().await, "begun");
    socket.shutdown().await.unwrap();
    assert_eq!(read_all(&mut socket).await, "", "the connection ends all the same");
    assert_eq!(served.told.rest(), [""; 0]);
    served.tells.gate.notify_one();
    assert_eq!(served.told.next().await, "finished");
    served.end().await;
}

/// `printf … | nc -N`: the request and the end come at once.
#[tokio::test]
async fn an_answer_that_is_complete_at_once_still_leaves() {
    let served = Served::begin().await;
    let large = "x".repeat(300_000);
    let posts = format!("POST /ready HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{large}", large.len());
    for (bytes, answers) in [
        (asking("/ready"), &["ready"][..]),
        (asking("/ready").repeat(3), &["ready"; 3]),
        ("GET /ready HTTP/1.0\r\n\r\n".into(), &["ready"]),
        (posts.clone() + &asking("/ready"), &["300000", "ready"]),
        (asking("/ready").repeat(2000), &["ready"; 2000]),
        (asking("/ready") + &asking("/never"), &["ready"]),
    ] {
        let mut socket = connect(&served).await;
        let (mut reads, mut writes) = socket.split();
        let sends = async {
            writes.write_all(bytes.as_bytes()).await.unwrap();
            writes.shutdown().await.unwrap();
        };
        let ((), read) = tokio::join!(sends, read_all(&mut reads));
        let contents: Vec<_> =
            read.split("HTTP/1.").skip(1).filter_map(|one| one.split("\r\n\r\n").nth(1)).collect();
        assert_eq!(contents, answers, "{}", &bytes[..30]);
    }
    served.end().await;
}

/// An answer that is whole, and of which the socket has not taken all, was cut when the end of the client
/// came after it.
#[tokio::test]
async fn an_answer_that_waits_for_the_socket_leaves_after_its_client_has_closed_its_side() {
    const BYTES: usize = 60_000;
    for half_close in [false, true] {
        let large =
            async |exchange: alula::Exchange| exchange.respond(alula::Status::OK).send([b'x'; BYTES]).await;
        let server = Server::builder().http1_half_close(half_close).build(large);
        // It takes as much as a tenth of the answer.
        let (mut near, far) = tokio::io::duplex(6_000);
        let connection = tokio::spawn(server.serve_connection(far, TransportFacts::new()));
        near.write_all(asking("/").as_bytes()).await.unwrap();
        let mut read = vec![0; 1];
        near.read_exact(&mut read).await.unwrap();
        near.shutdown().await.unwrap();
        // The server runs until it waits for its client.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        timeout(FOREVER, near.read_to_end(&mut read)).await.expect("the server closes").unwrap();
        let content = read.iter().filter(|byte| **byte == b'x').count();
        assert_eq!(content, BYTES, "half_close {half_close}");
        timeout(FOREVER, connection).await.expect("it ends").unwrap().unwrap();
    }
}

#[tokio::test]
async fn where_half_closed_connections_are_served_every_answer_leaves() {
    let mut served = Served::with(Server::builder().http1_half_close(true)).await;
    for (bytes, contents) in
        [(asking("/late"), vec!["late"]), (asking("/late") + &asking("/ready"), vec!["late", "ready"])]
    {
        let mut socket = connect(&served).await;
        socket.write_all(bytes.as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        assert_eq!(served.told.next().await, "begun");
        // Other connections come and go meanwhile, so that the server has looked at this one.
        let mut other = connect(&served).await;
        other.write_all(asking("/ready").as_bytes()).await.unwrap();
        other.shutdown().await.unwrap();
        assert!(read_all(&mut other).await.ends_with("ready"));
        assert_eq!(served.told.rest(), [""; 0]);
        served.tells.gate.notify_one();
        let read = read_all(&mut socket).await;
        let answers = read.split("HTTP/1.1 200 OK").skip(1).filter_map(|one| one.split("\r\n\r\n").nth(1));
        assert_eq!(answers.collect::<Vec<_>>(), contents);
        assert_eq!(served.told.next().await, "dropped");
    }
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_when_tls_ends() {
    let (identity, certificate) = identity();
    let mut served = Served::with(Server::builder().identity(identity)).await;
    for farewell in [Farewell::CloseNotify, Farewell::Fin, Farewell::Both] {
        for (request, path) in [
            (&b"GET /never HTTP/1.1\r\nhost: a\r\n\r\n"[..], "/never"),
            (b"GET /silent HTTP/1.1\r\nhost: a\r\n\r\n", "/silent"),
            (b"GET /never HTTP/1.1\r\nhost: a\r\n\r\nGET /ready HTTP/1.1\r\nhost: a\r\n\r\n", "two"),
        ] {
            let (address, told) = (served.address, &mut served.told);
            let begun = async { assert_eq!(told.next().await, "begun") };
            leave_tls(address, certificate.clone(), request, farewell, begun).await;
            assert_eq!(served.told.next().await, "dropped", "{farewell:?} {path}");
        }
        let ready = b"GET /ready HTTP/1.1\r\nhost: a\r\n\r\n";
        let read = leave_tls(served.address, certificate.clone(), ready, farewell, async {}).await;
        assert!(read.ends_with(b"ready"), "{farewell:?}");
    }
    served.end().await;
}

#[tokio::test]
async fn a_handler_is_dropped_on_a_unix_socket() {
    let (tells, mut told) = Tells::new();
    let server = Server::builder().build(router(&tells).build().unwrap());
    let (mut near, far) = UnixStream::pair().unwrap();
    let connection = tokio::spawn(server.serve_connection(far, TransportFacts::new()));
    near.write_all(asking("/never").as_bytes()).await.unwrap();
    assert_eq!(told.next().await, "begun");
    near.shutdown().await.unwrap();
    assert_eq!(told.next().await, "dropped");
    timeout(FOREVER, connection).await.expect("it ends").unwrap().unwrap();
}

struct Ends(Lines);

impl Hook for Ends {
    fn end(&self, ended: &Ended<'_>) {
        let failure = ended.failure().map(ToString::to_string);
        self.0.lock().unwrap().push(format!("{} {} {failure:?}", ended.target(), ended.client_left()));
    }
}

/// Handlers whose peer goes away are no failures for `on_error`, and hooks are told that the client has left.
#[tokio::test]
async fn a_client_that_leaves_is_told_as_that_and_is_no_failure() {
    let (ends, failures) = (Lines::default(), Lines::default());
    let heard = failures.clone();
    let (tells, mut told) = Tells::new();
    let builder = Server::builder().on_error(move |failure| heard.lock().unwrap().push(failure.to_string()));
    let server = builder.build(router(&tells).hook(Ends(ends.clone())).build().unwrap());
    let cut = "POST /reads HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf".to_owned();
    for bytes in [asking("/never"), asking("/silent"), cut] {
        let (mut near, far) = UnixStream::pair().unwrap();
        let connection = tokio::spawn(server.serve_connection(far, TransportFacts::new()));
        near.write_all(bytes.as_bytes()).await.unwrap();
        assert_eq!(told.next().await, "begun");
        near.shutdown().await.unwrap();
        assert_eq!(told.next().await, "dropped");
        timeout(FOREVER, connection).await.expect("it ends").unwrap().unwrap();
    }
    assert_eq!(*failures.lock().unwrap(), [""; 0]);
    let left = "Some(\"the client left before the answer was whole\")";
    let ends = ends.lock().unwrap();
    assert_eq!(ends[..2], [format!("/never true {left}"), format!("/silent true {left}")]);
    assert!(ends.len() == 3 && ends[2].starts_with("/reads true Some("), "{ends:?}");
}

/// A handler that waits for content is told of a reset, and ends with that: no failure of the program's
/// either.
#[tokio::test]
async fn a_client_that_resets_is_no_failure() {
    let failures = Lines::default();
    let heard = failures.clone();
    let builder = Server::builder().on_error(move |failure| heard.lock().unwrap().push(failure.to_string()));
    let mut served = Served::with(builder).await;
    for request in [
        "POST /reads HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf",
        "GET /floods HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let mut socket = connect(&served).await;
        socket.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(served.told.next().await, "begun");
        SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
        drop(socket);
        assert_eq!(served.told.next().await, "dropped");
    }
    served.end().await;
    assert_eq!(*failures.lock().unwrap(), [""; 0]);
}
