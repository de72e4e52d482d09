//! A request that is reset before the server has looked at it is not handled: its handler was begun and ran
//! to its end, when both came with one read.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use alula_fields::Status;
use alula_server::{Exchange, Server};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PATH_ROOT: u8 = 0x84;
const PATH_INDEX: u8 = 0x85;

#[test]
fn a_request_that_is_reset_at_once_is_not_handled() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let handled = Arc::new(Mutex::new(Vec::new()));
    let seen = handled.clone();
    let client = std::thread::spawn(move || {
        let mut socket = TcpStream::connect(address).unwrap();
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend(frame(SETTINGS, 0, 0, &[]));
        // GET and http as the static table (RFC 7541 Appendix A) has them, with the ends of the head and of
        // the stream.
        bytes.extend(frame(HEADERS, 0x5, 1, &[0x82, 0x86, PATH_ROOT]));
        bytes.extend(frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]));
        bytes.extend(frame(HEADERS, 0x5, 3, &[0x82, 0x86, PATH_INDEX]));
        socket.write_all(&bytes).unwrap();
        wait_for_answer(&mut socket);
        stop.stop();
    });
    runtime
        .block_on(server.serve(move |exchange: Exchange| {
            seen.lock().unwrap().push(exchange.request().path().to_owned());
            exchange.respond(Status::OK).send(b"")
        }))
        .unwrap();
    client.join().unwrap();
    assert_eq!(*handled.lock().unwrap(), ["/index.html"]);
}

fn wait_for_answer(socket: &mut TcpStream) {
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).unwrap();
        socket.read_exact(&mut vec![0; usize::from(head[2])]).unwrap();
        if head[3] == HEADERS {
            return;
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
}
