//! Whom a server takes connections from, and how it notices that a peer is gone.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use alula_fields::Status;
use alula_server::{Exchange, Server, ServerBuilder};

const PATIENCE: Duration = Duration::from_secs(20);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
/// The preface, SETTINGS, and a request of GET, http and / as the static table has them (RFC 7541 Appendix
/// A).
const REQUEST_OVER_HTTP2: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
const PING: u8 = 6;

#[test]
fn an_address_that_is_refused_is_closed_at_once() {
    let refuses = Server::builder().on_accept(|peer| !peer.ip().is_loopback());
    let (answer, refused) = serve(refuses, |address| end(TcpStream::connect(address).unwrap(), b""));
    assert_eq!((answer, refused), (Vec::new(), 1));
    let takes = Server::builder().on_accept(|peer| peer.ip().is_loopback());
    let (answer, refused) = serve(takes, |address| end(TcpStream::connect(address).unwrap(), REQUEST));
    assert!(answer.starts_with(b"HTTP/1.1 200 ") && refused == 0);
}

#[test]
fn a_silent_peer_of_http2_is_pinged_and_given_up() {
    let quiet = Duration::from_millis(50);
    let (bytes, _) = serve(Server::builder().keep_alive(quiet, 4 * quiet), |address| {
        end(TcpStream::connect(address).unwrap(), REQUEST_OVER_HTTP2)
    });
    let (mut bytes, mut pings) = (&bytes[..], 0);
    while let Some((head, rest)) = bytes.split_first_chunk::<9>() {
        pings += usize::from(head[3] == PING);
        bytes = &rest[usize::from(head[1]) << 8 | usize::from(head[2])..];
    }
    assert_eq!(pings, 1);
}

/// What comes on a connection until it ends.
fn end(mut socket: TcpStream, first: &[u8]) -> Vec<u8> {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(first).unwrap();
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Runs a server beside a client, and says how many connections it has refused. Over HTTP/2 it never answers.
fn serve<T: Send + 'static>(
    builder: ServerBuilder,
    client: impl FnOnce(SocketAddr) -> T + Send + 'static,
) -> (T, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let (address, ledger) = (server.address().unwrap(), server.ledger());
        let served = tokio::spawn(server.serve(answer));
        let done = tokio::task::spawn_blocking(move || client(address)).await;
        served.abort();
        (done.unwrap(), ledger.count("PEER_REFUSED"))
    })
}

async fn answer(exchange: Exchange) -> Result<alula_server::Sent, alula_server::Error> {
    if exchange.request().version() == alula_server::Version::Http2 {
        std::future::pending::<()>().await;
    }
    exchange.respond(Status::OK).send(b"").await
}
