//! Method and target of requests over HTTP/2 that got to no handler: known as far as the head was decoded.
//!
//! A process of its own, since a process tells of ten refusals at once.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{AccessLog, Error, Exchange, FailureCause, Limits, Sent, Server, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// A block of literals that no table keeps (RFC 7541 §6.2.2).
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let literal = |(name, value): &(&str, &str)| {
        [&[0][..], &length(name.len()), name.as_bytes(), &length(value.len()), value.as_bytes()].concat()
    };
    fields.iter().flat_map(literal).collect()
}

/// RFC 7541 §5.1, with a prefix of seven bits.
fn length(length: usize) -> Vec<u8> {
    let Some(mut rest) = length.checked_sub(127) else { return vec![length as u8] };
    let mut bytes = vec![127];
    while rest >= 128 {
        bytes.push((rest % 128 + 128) as u8);
        rest /= 128;
    }
    bytes.push(rest as u8);
    bytes
}

/// The pseudo-fields of a request.
fn asking(method: &'static str, path: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![(":method", method), (":scheme", "http"), (":authority", "a.example"), (":path", path)]
}

fn with(mut fields: Vec<(&'static str, &'static str)>, more: (&'static str, &'static str)) -> Vec<u8> {
    fields.push(more);
    block(&fields)
}

/// A head in frames of 16 KiB.
fn in_frames(block: &[u8]) -> Vec<u8> {
    let chunks: Vec<_> = block.chunks(16_384).collect();
    let flags = |place: usize| if place + 1 == chunks.len() { END_HEADERS } else { 0 };
    let frames = chunks.iter().enumerate().map(|(place, chunk)| match place {
        0 => frame(HEADERS, END_STREAM | flags(0), 1, chunk),
        _ => frame(CONTINUATION, flags(place), 1, chunk),
    });
    frames.flatten().collect()
}

fn whole(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

/// The frames of a connection, and the method, target and status of the request that is refused.
type Row = (&'static str, Vec<u8>, [&'static str; 2], Option<u16>);

fn rows() -> Vec<Row> {
    let long = |bytes: usize| -> &'static str { Box::leak("x".repeat(bytes).into_boxed_str()) };
    let undecodable = |fields: &[(&str, &str)]| [&block(fields)[..], &[0x80]].concat();
    let continued = (0..2_000).flat_map(|_| frame(CONTINUATION, 0, 1, &block(&[("a", "b")])));
    let flood: Vec<u8> =
        frame(HEADERS, 0, 1, &block(&asking("PUT", "/e"))).into_iter().chain(continued).collect();
    let idle = [whole(&block(&asking("GET", "/good"))), frame(DATA, 0, 3, b"x")].concat();
    vec![
        ("a bad field", whole(&with(asking("GET", "/a?k=s3cret"), ("B", "x"))), ["GET", "/a?k=…"], None),
        (
            "a bad path",
            whole(&block(&[(":method", "GET"), (":authority", "a.example"), (":path", "b c")])),
            ["GET", ""],
            None,
        ),
        (
            "a large head",
            in_frames(&with(asking("PUT", "/c"), ("x", long(20_000)))),
            ["PUT", "/c"],
            Some(431),
        ),
        (
            "far too large a head",
            in_frames(&with(asking("PUT", "/d"), ("x", long(200_000)))),
            ["PUT", "/d"],
            None,
        ),
        ("frames without end", flood, ["PUT", "/e"], None),
        (
            "an index that is none",
            whole(&undecodable(&asking("GET", "/f?k=s3cret"))),
            ["GET", "/f?k=…"],
            None,
        ),
        ("nothing but that", whole(&undecodable(&[])), ["", ""], None),
        (
            "too little content",
            whole(&with(asking("POST", "/g"), ("content-length", "5"))),
            ["POST", "/g"],
            None,
        ),
        ("another frame", idle, ["", ""], None),
    ]
}

/// The method, the target and the status of each request that is refused.
type Told = mpsc::UnboundedReceiver<([String; 2], Option<u16>)>;

async fn serve(limits: Limits, log: &AccessLog) -> (Server, Told) {
    let (tell, told) = mpsc::unbounded_channel();
    let log = log.clone();
    let server = Server::builder().limits(limits).on_error(move |failure| {
        if matches!(failure.cause(), FailureCause::Refused(_)) {
            log.refused(failure);
            let known = [failure.method(), failure.target()].map(str::to_owned);
            tell.send((known, failure.status().map(Status::as_u16))).unwrap();
        }
    });
    (server.bind("127.0.0.1:0").await.unwrap(), told)
}

fn hello(exchange: Exchange) -> impl Future<Output = Result<Sent, Error>> {
    exchange.respond(Status::OK).send("hello")
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends on a connection of its own, and reads until that ends.
async fn send(address: SocketAddr, bytes: &[u8]) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // A server that refuses what comes first may close before it has read the rest.
    let _ = socket.write_all(bytes).await;
    let _ = socket.shutdown().await;
    let _ = socket.read_to_end(&mut Vec::new()).await;
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn a_refused_request_is_known_as_far_as_it_came() {
    let memory = Memory::default();
    let log = AccessLog::to_writer(memory.clone()).unwrap().common();
    let (server, mut told) = serve(Limits::default(), &log).await;
    let address = server.address().unwrap();
    tokio::spawn(server.serve(hello));
    let (mut wrong, mut lines) = (Vec::new(), String::new());
    for (row, frames, known, status) in rows() {
        send(address, &[PREFACE, &frames].concat()).await;
        let (head, answered) = told.recv().await.unwrap();
        if head != known || answered != status {
            wrong.push(format!("{row}: {head:?} {answered:?}"));
        }
        assert!(told.try_recv().is_err(), "{row} is told of twice");
        let [method, target] = known.map(|known| if known.is_empty() { "-" } else { known });
        let status = status.map_or("-".to_owned(), |status| status.to_string());
        lines += &format!("\"{method} {target} HTTP/2\" {status} 0\n");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(log.flush(Duration::from_secs(30)));
    let written = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
    let ends = written.lines().filter_map(|line| line.split_once("] "));
    assert_eq!(ends.map(|(_, end)| format!("{end}\n")).collect::<String>(), lines);
    overload(&log).await;
}

/// A request for which there is no memory is known as well, over both versions.
async fn overload(log: &AccessLog) {
    let limits = Limits { process_memory_bytes: 8 << 20, ..Limits::default() };
    let (server, mut told) = serve(limits.clone(), log).await;
    let (address, ledger) = (server.address().unwrap(), server.ledger());
    tokio::spawn(server.serve(hello));
    let mut reserved = Vec::new();
    for bytes in [
        b"GET /h?k=s3cret HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".to_vec(),
        [PREFACE, &whole(&block(&asking("GET", "/h?k=s3cret")))].concat(),
    ] {
        // Those that are one too many for this second are told to nobody.
        let (known, status) = loop {
            reserved.extend(
                limits
                    .process_memory_soft_bytes()
                    .checked_sub(ledger.memory_held())
                    .and_then(|left| ledger.reserve(left)),
            );
            send(address, &bytes).await;
            if let Ok(told) = told.try_recv() {
                break told;
            }
        };
        assert_eq!((known, status), (["GET", "/h?k=…"].map(str::to_owned), Some(503)));
    }
}
