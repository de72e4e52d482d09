//! A connection that rests gives the slot of its handler back, while whoever the handler has waited for may
//! keep its waker.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    time::Duration,
};

use alula_fields::Status;
use alula_server::{Exchange, Server};

/// A connection rests one to two seconds after its last request.
const REST: Duration = Duration::from_millis(2_500);
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_waker_is_called_after_its_connection_has_come_to_rest() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
    let keep = kept.clone();
    let client = std::thread::spawn(move || {
        let mut socket = TcpStream::connect(address).unwrap();
        let first = ask(&mut socket);
        let rests = is_silent(&mut socket, REST);
        kept.lock().unwrap().take().unwrap().wake();
        // The task runs for nothing else.
        let stays = is_silent(&mut socket, REST / 10);
        let second = ask(&mut socket);
        stop.stop();
        [first, rests, stays, second]
    });
    let answer = move |exchange: Exchange| {
        let keep = keep.clone();
        async move {
            std::future::poll_fn(|cx| {
                *keep.lock().unwrap() = Some(cx.waker().clone());
                Poll::Ready(())
            })
            .await;
            exchange.respond(Status::OK).send(b"").await
        }
    };
    runtime.block_on(server.serve(answer)).unwrap();
    assert_eq!(client.join().unwrap(), [true; 4]);
}

/// Returns true if the connection is open for so long, and nothing is said on it.
fn is_silent(socket: &mut TcpStream, time: Duration) -> bool {
    socket.set_read_timeout(Some(time)).unwrap();
    let read = socket.read(&mut [0; 1]);
    matches!(read, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// Returns true if a request is answered by 200.
fn ask(socket: &mut TcpStream) -> bool {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    if socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").is_err() {
        return false;
    }
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut bytes = [0; 256];
        match socket.read(&mut bytes) {
            Ok(read) if read > 0 => answer.extend_from_slice(&bytes[..read]),
            _ => return false,
        }
    }
    answer.starts_with(b"HTTP/1.1 200 ")
}
