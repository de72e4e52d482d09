//! An answer that comes before the content was sent is not lost to a reset: the server reads on for a while
//! after it has closed its side. It did so for half a second, whatever the peer was about.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    time::{Duration, Instant},
};

use alula_fields::Status;
use alula_machine::Limits;
use alula_server::{Exchange, Server};

const PIECE: usize = 16 * 1024;
/// The time that the peer takes between two pieces of its content, and how many it sends before it reads the
/// answer.
const PAUSE: Duration = Duration::from_millis(100);
const PIECES: usize = 20;
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_peer_that_is_still_sending_gets_its_answer() {
    let answer = serve(Limits::default(), |address| {
        let mut socket = upload(address);
        let (_keep, silence) = mpsc::channel::<()>();
        for _ in 0..PIECES {
            socket.write_all(&[b'x'; PIECE]).unwrap();
            let _ = silence.recv_timeout(PAUSE);
        }
        let mut answer = String::new();
        socket.read_to_string(&mut answer).map(|_| answer)
    });
    let answer = answer.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn a_peer_that_sends_too_much_is_cut_off() {
    let limits = Limits { linger_bytes: 1024 * 1024, ..Limits::default() };
    let sent = serve(limits, |address| {
        let mut socket = upload(address);
        let piece = vec![b'x'; 1024 * 1024];
        (0..1024).take_while(|_| socket.write_all(&piece).is_ok()).count()
    });
    // What the sockets hold comes on top of the limit.
    assert!(sent < 100, "{sent} MiB were taken");
}

#[test]
fn a_peer_that_stays_is_left_after_a_while() {
    let limits = Limits { linger_timeout: PAUSE, ..Limits::default() };
    let took = serve(limits, |address| {
        let mut socket = upload(address);
        let began = Instant::now();
        // Nothing is read until nothing can be written any more.
        while socket.write_all(b"x").is_ok() {
            assert!(began.elapsed() < PATIENCE, "it is still read");
        }
        began.elapsed()
    });
    assert!(took >= PAUSE, "{took:?}");
}

fn upload(address: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n").unwrap();
    socket
}

/// Runs a server that reads no content, beside a client.
fn serve<T: Send + 'static>(limits: Limits, client: impl FnOnce(SocketAddr) -> T + Send + 'static) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
        let address = server.address().unwrap();
        let refuse = |exchange: Exchange| exchange.respond(Status::CONTENT_TOO_LARGE).send(b"");
        let served = tokio::spawn(server.serve(refuse));
        let done = tokio::task::spawn_blocking(move || client(address)).await;
        served.abort();
        done.unwrap()
    })
}
