//! A handler that panics is answered for with 500, and its connection goes on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use alula_fields::Status;
use alula_server::{Exchange, Server};

const HEADERS: u8 = 1;
/// What the static table (RFC 7541 Appendix A) has at 2 and 6: a GET in clear text.
const GET_HTTP: [u8; 2] = [0x82, 0x86];
const PATH_ROOT: u8 = 0x84;
const PATH_INDEX: u8 = 0x85;
const STATUS_200: u8 = 0x88;
const STATUS_500: u8 = 0x8e;

#[test]
fn a_panic_is_answered_with_500() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let client = std::thread::spawn(move || {
        let answers = statuses(address);
        stop.stop();
        answers
    });
    // It panics before there is a future, or within it, or not at all.
    runtime
        .block_on(server.serve(|exchange: Exchange| {
            assert!(exchange.request().path() != "/", "a handler that panics");
            let panics = exchange.request().headers().is_empty();
            async move {
                assert!(!panics, "a future that panics");
                exchange.respond(Status::OK).send(b"").await
            }
        }))
        .unwrap();
    assert_eq!(client.join().unwrap(), [STATUS_500, STATUS_500, STATUS_200]);
}

/// The statuses of three requests on one connection.
fn statuses(address: SocketAddr) -> [u8; 3] {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    write_frame(&mut socket, 4, 0, 0, &[]);
    // The last has the field `accept-encoding`, which is at 16.
    let requests: [&[u8]; 3] = [&[PATH_ROOT], &[PATH_INDEX], &[PATH_INDEX, 0x90]];
    let mut stream = 1;
    requests.map(|request| {
        write_frame(&mut socket, HEADERS, 0x5, stream, &[&GET_HTTP, request].concat());
        let status = read_status(&mut socket, stream);
        stream += 2;
        status
    })
}

fn write_frame(socket: &mut TcpStream, kind: u8, flags: u8, stream: u8, payload: &[u8]) {
    let head = [0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream];
    socket.write_all(&[&head, payload].concat()).unwrap();
}

/// The first byte of the head that answers this stream; what else comes is passed over.
fn read_status(socket: &mut TcpStream, stream: u8) -> u8 {
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).unwrap();
        let mut payload = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
        socket.read_exact(&mut payload).unwrap();
        if head[3] == HEADERS && head[8] == stream {
            // A table of another size may be announced first (RFC 7541 §6.3).
            return payload.into_iter().find(|byte| byte & 0x80 != 0).unwrap();
        }
    }
}
