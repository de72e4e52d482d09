//! A server that stops ends a connection once its last answer is whole with the peer's socket, not once it
//! was written to our own output: a full socket had no room for the rest, which was dropped, and the peer
//! took half an answer for the end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};

use alula_fields::Status;
use alula_server::{Exchange, Server};
use tokio::sync::Notify;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
/// SETTINGS_INITIAL_WINDOW_SIZE at its most.
const LARGEST_STREAM_WINDOW: [u8; 6] = [0, 4, 0x7f, 0xff, 0xff, 0xff];
/// More than sockets hold.
const BYTES: usize = 32 * 1024 * 1024;

#[test]
fn the_last_answer_is_whole() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let (tell, has_begun) = mpsc::channel();
    let may_answer = Arc::new(Notify::new());
    let let_answer = may_answer.clone();
    let client = std::thread::spawn(move || {
        let mut socket = ask(address);
        has_begun.recv().unwrap();
        stop.stop();
        receive(&mut socket, &let_answer)
    });
    runtime
        .block_on(server.serve(move |exchange: Exchange| {
            tell.send(()).unwrap();
            let may_answer = may_answer.clone();
            async move {
                may_answer.notified().await;
                exchange.respond(Status::OK).send(&vec![b'c'; BYTES]).await
            }
        }))
        .unwrap();
    drop(runtime);
    assert_eq!(client.join().unwrap(), BYTES);
}

fn ask(address: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    write_frame(&mut socket, SETTINGS, 0, 0, &LARGEST_STREAM_WINDOW);
    write_frame(&mut socket, WINDOW_UPDATE, 0, 0, &[0x7f, 0, 0, 0]);
    // GET, http and / as the static table (RFC 7541 Appendix A) has them, with the ends of the head and of
    // the stream.
    write_frame(&mut socket, HEADERS, 0x5, 1, &[0x82, 0x86, 0x84]);
    socket
}

/// The bytes of content received. The answer is let go once the server has said which request is the last.
fn receive(socket: &mut TcpStream, let_answer: &Notify) -> usize {
    let (mut bytes, mut farewells) = (0, 0);
    while let Some((kind, payload)) = read_frame(socket) {
        match kind {
            DATA => bytes += payload.len(),
            // Only after the answer to this a server says which request is the last (RFC 9113 §6.8).
            PING => write_frame(socket, PING, ACK, 0, &payload),
            GOAWAY => {
                farewells += 1;
                if farewells == 2 {
                    let_answer.notify_one();
                }
            }
            _ => {}
        }
    }
    bytes
}

fn write_frame(socket: &mut TcpStream, kind: u8, flags: u8, stream: u8, payload: &[u8]) {
    let head = [0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream];
    socket.write_all(&[&head, payload].concat()).unwrap();
}

/// Kind and payload of the next frame; nothing at the end.
fn read_frame(socket: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    socket.read_exact(&mut head).ok()?;
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let mut payload = vec![0; length];
    socket.read_exact(&mut payload).ok()?;
    Some((head[3], payload))
}
