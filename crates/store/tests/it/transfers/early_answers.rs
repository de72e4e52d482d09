//! Answers that are given before their content was read reach clients that send all of it first.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use alula::{Client, Content, Server};
use alula_store::access::{Access, Users, hash_password};
use alula_store::engine::Memory;
use alula_store::{Config, Store};
use base64::Engine as _;
use tokio::io::AsyncReadExt as _;

const LARGE: usize = 52 * 1024 * 1024;
static PIECE: [u8; 65_536] = [7; 65_536];

/// Starts a store that takes objects of 51 MiB.
async fn serve() -> SocketAddr {
    serve_with(Memory::new(), None).await
}

async fn serve_with(engine: Memory, access: Option<Access>) -> SocketAddr {
    let mut config = Config::default();
    config.access = access;
    let store = Store::open(engine, config).await.expect("a store");
    let server = Server::builder().limits(alula_store::limits()).bind("127.0.0.1:0").await.expect("a port");
    let address = server.address().expect("an address");
    tokio::spawn(server.serve(store.routes().expect("routes")));
    address
}

/// Sends a request whose content is longer than the store takes, all of it, and then reads the status.
fn status_after_all(address: SocketAddr, fields: &str, is_chunked: bool) -> String {
    status_after(address, fields, is_chunked, LARGE)
}

fn status_after(address: SocketAddr, fields: &str, is_chunked: bool, bytes: usize) -> String {
    let mut socket = TcpStream::connect(address).expect("a connection");
    let framing = match is_chunked {
        true => "transfer-encoding: chunked".to_owned(),
        false => format!("content-length: {bytes}"),
    };
    let head = format!("PUT /buckets/b/keys/k HTTP/1.1\r\nhost: {address}\r\n{fields}\r\n{framing}\r\n\r\n");
    socket.write_all(head.as_bytes()).expect("the head is sent");
    for _ in 0..bytes / PIECE.len() {
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

/// A store for each answer that is given before or after the content, with the fields of a request that gets
/// it.
async fn refusing() -> Vec<(u16, SocketAddr, String)> {
    let hash = hash_password(b"open sesame").expect("random bytes");
    let text = format!("[users.reader]\npassword = '{hash}'\n");
    let users = || Users::parse(&text).expect("users");
    let basic = |pair: &str| base64::engine::general_purpose::STANDARD.encode(pair);
    let credentials = |pair: &str| format!("authorization: Basic {}\r\n", basic(pair));
    let in_clear_text = Access::in_clear_text(users()).expect("random bytes");
    let guarded = serve_with(Memory::new(), Some(in_clear_text)).await;
    let over_tls = serve_with(Memory::new(), Some(Access::new(users()).expect("random bytes"))).await;
    // No password has a thread or a place to wait.
    let crowded = Access::crowded(users()).expect("random bytes");
    let crowded = serve_with(Memory::new(), Some(crowded)).await;
    let full = serve_with(Memory::bounded(1 << 20), None).await;
    vec![
        (401, guarded, String::new()),
        (401, guarded, credentials("reader:wrong")),
        (403, guarded, credentials("reader:open sesame")),
        (426, over_tls, credentials("reader:open sesame")),
        (503, crowded, credentials("reader:open sesame")),
        (507, full, String::new()),
    ]
}

/// The bytes of a content that a store takes.
const KEPT: usize = 50 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_reach_a_client_that_sends_all_first() {
    for (status, address, fields) in refusing().await {
        for is_chunked in [false, true] {
            let fields = format!("{fields}content-type: text/plain");
            let sent = tokio::task::spawn_blocking(move || status_after(address, &fields, is_chunked, KEPT));
            assert_eq!(sent.await.expect("no panic"), format!("HTTP/1.1 {status}"), "chunked {is_chunked}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_answered_over_http2() {
    let client = Client::builder().http2_prior_knowledge(true).build().expect("a client");
    for (status, address, fields) in refusing().await {
        for is_stated in [true, false] {
            let content = tokio::io::repeat(7).take(KEPT as u64);
            let content = match is_stated {
                true => Content::reader_of(content, KEPT as u64),
                false => Content::reader(content),
            };
            let mut put = client.put(format!("http://{address}/buckets/b/keys/k"));
            if let Some((_, credentials)) = fields.trim_end().split_once(": ") {
                put = put.header("authorization", credentials);
            }
            let answer = put.content(content.media_type("text/plain")).send().await.expect("an answer");
            assert_eq!(answer.status(), status, "stated {is_stated}");
        }
    }
}
