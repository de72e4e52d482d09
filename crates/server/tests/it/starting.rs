//! A server that answers while its program is still starting, and serves what that has made at the same
//! address.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use alula_fields::Status;
use alula_server::{Exchange, Handler, Server};
use tokio::sync::oneshot;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST_REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
/// The preface, SETTINGS, and a request of GET, http and / as the static table has them (RFC 7541 Appendix
/// A).
const REQUEST_OVER_HTTP2: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
const GOAWAY: u8 = 7;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn answering(status: Status) -> impl Handler {
    move |exchange: Exchange| exchange.respond(status).send(b"")
}

#[test]
fn what_is_ready_is_served_next_and_those_before_it_end() {
    let runtime = runtime();
    let mut server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let (tell, ready) = oneshot::channel();
    let client = std::thread::spawn(move || {
        let (mut kept, mut over_http2) = (connect(address), connect(address));
        kept.write_all(REQUEST).unwrap();
        assert!(head(&mut kept).starts_with("HTTP/1.1 503 "));
        over_http2.write_all(REQUEST_OVER_HTTP2).unwrap();
        wait_for_frame(&mut over_http2, 1);
        tell.send("it is ready").unwrap();
        // Both end without a request more.
        assert_eq!(kept.read(&mut [0; 1]).unwrap(), 0);
        wait_for_frame(&mut over_http2, GOAWAY);
        drop([kept, over_http2]);
        let mut later = connect(address);
        later.write_all(LAST_REQUEST).unwrap();
        let answered = head(&mut later);
        stop.stop();
        answered
    });
    runtime.block_on(async {
        let ready = server.serve_until(answering(Status::SERVICE_UNAVAILABLE), ready).await.unwrap();
        assert_eq!(ready, Some(Ok("it is ready")));
        server.serve(answering(Status::OK)).await.unwrap();
    });
    let answered = client.join().unwrap();
    assert!(answered.starts_with("HTTP/1.1 200 "), "{answered}");
}

#[test]
fn a_stop_goes_before_what_is_still_to_be_ready() {
    let runtime = runtime();
    let mut server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let stop = server.stop_handle();
    let served = runtime.block_on(async {
        let ready = std::future::pending::<()>();
        let serving = server.serve_until(answering(Status::SERVICE_UNAVAILABLE), ready);
        let (served, ()) = tokio::join!(serving, async { stop.stop() });
        served.unwrap()
    });
    assert_eq!(served, None);
    runtime.block_on(server.serve(answering(Status::OK))).unwrap();
}

#[test]
fn connections_end_with_a_server_that_does_not_get_ready() {
    let runtime = runtime();
    let mut server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let address = server.address().unwrap();
    let (tell, ready) = oneshot::channel::<()>();
    let client = std::thread::spawn(move || {
        let mut kept = connect(address);
        kept.write_all(REQUEST).unwrap();
        let answered = head(&mut kept);
        drop(tell);
        kept.read_to_end(&mut Vec::new()).unwrap();
        answered
    });
    let answered = runtime.block_on(async {
        let ready = server.serve_until(answering(Status::SERVICE_UNAVAILABLE), ready).await.unwrap();
        assert!(matches!(ready, Some(Err(_))));
        drop(server);
        tokio::task::spawn_blocking(|| client.join().unwrap()).await.unwrap()
    });
    assert!(answered.starts_with("HTTP/1.1 503 "), "{answered}");
    assert!(TcpStream::connect(address).is_err(), "nobody listens");
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Reads a head of HTTP/1.1.
fn head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

/// Reads frames of HTTP/2 up to one of this kind.
fn wait_for_frame(socket: &mut TcpStream, kind: u8) {
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).unwrap();
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        socket.read_exact(&mut payload).unwrap();
        if head[3] == kind {
            return;
        }
    }
}
