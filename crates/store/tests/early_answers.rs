//! Answers that are given before their content was read reach clients that send all of it first.
#![forbid(unsafe_code)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use alula::{Client, Content, Server};
use alula_store::engine::Memory;
use alula_store::{Config, Store};
use tokio::io::AsyncReadExt as _;

const LARGE: usize = 52 * 1024 * 1024;
static PIECE: [u8; 65_536] = [7; 65_536];

/// Starts a store that takes objects of 51 MiB.
async fn serve() -> SocketAddr {
    let store = Store::open(Memory::new(), Config::default()).await.expect("a store");
    let server = Server::builder().limits(alula_store::limits()).bind("127.0.0.1:0").await.expect("a port");
    let address = server.address().expect("an address");
    tokio::spawn(server.serve(store.routes().expect("routes")));
    address
}

/// Sends a request whose content is longer than the store takes, all of it, and then reads the status.
fn status_after_all(address: SocketAddr, fields: &str, is_chunked: bool) -> String {
    let mut socket = TcpStream::connect(address).expect("a connection");
    let framing = match is_chunked {
        true => "transfer-encoding: chunked".to_owned(),
        false => format!("content-length: {LARGE}"),
    };
    let head = format!("PUT /buckets/b/keys/k HTTP/1.1\r\nhost: {address}\r\n{fields}\r\n{framing}\r\n\r\n");
    socket.write_all(head.as_bytes()).expect("the head is sent");
    for _ in 0..LARGE / PIECE.len() {
        if is_chunked {
            socket.write_all(b"10000\r\n").expect("a chunk is sent");
        }
        socket.write_all(&PIECE).expect("all of the content is sent");
        if is_chunked {
            socket.write_all(b"\r\n").expect("a chunk is sent");
        }
    }
    if is_chunked {
        socket.write_all(b"0\r\n\r\n").expect("the end is sent");
    }
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_much_is_413_for_a_client_that_sends_all_first() {
    let address = serve().await;
    for is_chunked in [false, true] {
        for (fields, status) in [
            ("content-type: text/plain", "HTTP/1.1 413"),
            ("content-type: text/plain\r\norigin: null", "HTTP/1.1 403"),
        ] {
            let sent = tokio::task::spawn_blocking(move || status_after_all(address, fields, is_chunked));
            assert_eq!(sent.await.expect("no panic"), status, "chunked {is_chunked}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_much_is_413_over_http2() {
    let address = serve().await;
    let client = Client::builder().http2_prior_knowledge(true).build().expect("a client");
    for is_stated in [true, false] {
        let content = tokio::io::repeat(7).take(LARGE as u64);
        let content = match is_stated {
            true => Content::reader_of(content, LARGE as u64),
            false => Content::reader(content),
        };
        let put = client.put(format!("http://{address}/buckets/b/keys/k"));
        let answer = put.content(content.media_type("text/plain")).send().await.expect("an answer");
        assert_eq!(answer.status(), 413);
    }
}
