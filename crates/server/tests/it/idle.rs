//! A connection without streams is closed after `Limits::idle_timeout`, whatever else the peer sends on it.
//! Over HTTP/2 it was never closed.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use alula_fields::Status;
use alula_machine::Limits;
use alula_server::{Error, Exchange, Sent, Server, Stop};

const IDLE: Duration = Duration::from_millis(600);
/// How often a peer that only seems busy sends something.
const BEAT: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(10);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// GET, http and / as the static table (RFC 7541 Appendix A) has them, on stream 1.
const REQUEST: &[u8] = b"\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
/// PING, empty SETTINGS, and WINDOW_UPDATE of the connection by 1.
const BEATS: [&[u8]; 3] =
    [b"\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0", b"\0\0\0\x04\0\0\0\0\0", b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01"];
const HEADERS: u8 = 1;
const GOAWAY: u8 = 7;

#[test]
fn an_unused_connection_of_http2_is_closed() {
    let end = serve(|address| {
        let mut peer = Peer::connect(address, PREFACE);
        peer.beat_until_the_end()
    });
    assert_eq!(end, End { goaway: Some(0), answers: 0 });
}

#[test]
fn a_used_connection_of_http2_is_closed() {
    let end = serve(|address| {
        let mut peer = Peer::connect(address, &[PREFACE, REQUEST].concat());
        peer.beat_until_the_end()
    });
    assert_eq!(end, End { goaway: Some(0), answers: 1 });
}

#[test]
fn a_used_connection_of_http1_is_closed() {
    let answer = serve(|address| {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    });
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn a_connection_with_a_stream_is_not_idle() {
    let answer = serve(|address| {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    });
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// What a peer has seen by the end of its connection.
#[derive(Debug, Eq, PartialEq)]
struct End {
    /// The code of the first GOAWAY.
    goaway: Option<u32>,
    answers: u32,
}

struct Peer {
    socket: TcpStream,
    input: Vec<u8>,
}

impl Peer {
    fn connect(address: SocketAddr, first: &[u8]) -> Self {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(BEAT)).unwrap();
        socket.write_all(first).unwrap();
        Self { socket, input: Vec::new() }
    }

    /// Sends something that is no use of the connection, again and again, until it ends.
    fn beat_until_the_end(&mut self) -> End {
        let began = Instant::now();
        for beat in BEATS.iter().cycle() {
            assert!(began.elapsed() < PATIENCE, "it is still open");
            // It may have been closed meanwhile.
            let _ = self.socket.write_all(beat);
            if self.read() {
                break;
            }
        }
        self.seen()
    }

    /// Reads what comes within a beat. True at the end of the connection.
    fn read(&mut self) -> bool {
        let mut space = [0; 1024];
        match self.socket.read(&mut space) {
            Ok(bytes) => {
                self.input.extend(&space[..bytes]);
                bytes == 0
            }
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }

    fn seen(&self) -> End {
        let mut end = End { goaway: None, answers: 0 };
        let mut input = &self.input[..];
        while let Some((head, rest)) = input.split_first_chunk::<9>() {
            let (payload, rest) = rest.split_at(usize::from(head[1]) << 8 | usize::from(head[2]));
            match head[3] {
                HEADERS => end.answers += 1,
                GOAWAY => {
                    let code = payload[4..].first_chunk().map(|code| u32::from_be_bytes(*code));
                    end.goaway = end.goaway.or(code);
                }
                _ => {}
            }
            input = rest;
        }
        end
    }
}

fn serve<T: Send + 'static>(client: impl FnOnce(SocketAddr) -> T + Send + 'static) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let limits = Limits { idle_timeout: IDLE, ..Limits::default() };
        let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        let client = tokio::task::spawn_blocking(move || {
            let _stops = StopsAtEnd(stop);
            client(address)
        });
        server.serve(answer).await.unwrap();
        client.await.unwrap()
    })
}

/// Stops the server however the client ends.
struct StopsAtEnd(Stop);

impl Drop for StopsAtEnd {
    fn drop(&mut self) {
        self.0.stop();
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    if exchange.request().path() == "/slow" {
        tokio::time::sleep(2 * IDLE).await;
    }
    exchange.respond(Status::OK).send(b"").await
}
