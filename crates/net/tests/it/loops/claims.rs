//! Large content is handed over as it was read: whatever frames it comes in, however these are cut, and
//! whoever else's are between, each stream gets its own and all of it.

use std::{future::poll_fn, pin::pin, sync::Arc};

use alula_fields::FieldSection;
use alula_net::{Body, Conn, Speaks, Stream};
use alula_testkit::Rng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task;

use super::ends::{boxed, connect, request};

const STREAMS: usize = 3;
/// What is sent of each at the most: no window ends before.
const BYTES_MAX: usize = 200_000;
const ROUNDS: u64 = 60;
/// SETTINGS of nothing, and the acknowledgement of the client's, which makes windows as large as it says.
const SETTINGS: [u8; 18] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0];

/// A client's end, and the transport of the other.
async fn open(speaks: Speaks) -> (Arc<Conn>, DuplexStream) {
    // Nothing waits for who does not read.
    let (near, far) = duplex(4 << 20);
    (connect(speaks).over(boxed(near)).await.unwrap(), far)
}

async fn get(conn: &Arc<Conn>) -> Stream {
    request(conn, "GET", &FieldSection::new(), true).await
}

/// The content of a frame: many are as large as may be and many small, or most are tiny.
fn payload(rng: &mut Rng, are_tiny: bool) -> Vec<u8> {
    let bytes = match rng.below(if are_tiny { 400 } else { 4 }) {
        0 => rng.range(7_000..10_000),
        1 => rng.below(100),
        2.. if are_tiny => rng.range(1..20),
        _ => 16_384,
    };
    let first = rng.below(256);
    (first..first + bytes).map(|at| ((at * 7) >> 2) as u8).collect()
}

fn frame(kind: u8, flags: u8, stream: usize, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let id = (2 * stream as u32 + 1).to_be_bytes();
    [&length[1..], &[kind, flags], &id, payload].concat()
}

/// Frames of all streams, mixed; and the content of each.
fn frames(rng: &mut Rng) -> (Vec<u8>, [Vec<u8>; STREAMS]) {
    let mut wire = SETTINGS.to_vec();
    // HEADERS with :status 200.
    (0..STREAMS).for_each(|stream| wire.extend(frame(1, 4, stream, &[0x88])));
    let mut contents = [const { Vec::new() }; STREAMS];
    let (is_alone, are_tiny) = (rng.one_in(2), rng.one_in(3));
    let mut stream = 0;
    while contents.iter().any(|content| content.len() < BYTES_MAX / 2) {
        if !is_alone || contents[stream].len() >= BYTES_MAX / 2 {
            stream = rng.below(STREAMS);
        }
        let payload = payload(rng, are_tiny);
        if contents[stream].len() + payload.len() <= BYTES_MAX {
            wire.extend(frame(0, 0, stream, &payload));
            contents[stream].extend(payload);
        }
    }
    (0..STREAMS).for_each(|stream| wire.extend(frame(0, 1, stream, b"")));
    (wire, contents)
}

/// Chunks of HTTP/1.1, and their content.
fn chunks(rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let mut wire = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let mut content = Vec::new();
    let are_tiny = rng.one_in(3);
    while content.len() < BYTES_MAX {
        let payload = payload(rng, are_tiny);
        if payload.is_empty() {
            continue;
        }
        wire.extend(format!("{:x}\r\n", payload.len()).into_bytes());
        wire.extend(&payload);
        wire.extend(b"\r\n");
        content.extend(payload);
    }
    wire.extend(b"0\r\n\r\n");
    (wire, content)
}

/// Reads all, some of it by small pieces.
async fn read_all(mut body: Body, mut rng: Rng) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        if rng.one_in(3) {
            let mut piece = vec![0; rng.range(1..20_000)];
            let bytes = body.read(&mut piece).await.unwrap();
            all.extend_from_slice(&piece[..bytes]);
        }
        if rng.one_in(4) {
            task::yield_now().await;
        }
        match body.chunk().await.unwrap() {
            Some(chunk) => all.extend_from_slice(chunk),
            None => return all,
        }
    }
}

/// Sends it in pieces, between which others run.
async fn send(far: &mut DuplexStream, mut wire: &[u8], rng: &mut Rng) {
    while !wire.is_empty() {
        let (piece, rest) = wire.split_at(rng.range(1..100_000).min(wire.len()));
        far.write_all(piece).await.unwrap();
        task::yield_now().await;
        wire = rest;
    }
}

#[tokio::test]
async fn each_stream_gets_its_own_content_and_all_of_it() {
    for round in 0..ROUNDS {
        let mut rng = Rng::new(round);
        let (conn, mut far) = open(Speaks::HTTP2).await;
        let mut readers = Vec::new();
        for place in 0..STREAMS as u64 {
            let (stream, rng) = (get(&conn).await, Rng::new(round * 10 + place));
            readers.push(task::spawn(async move {
                let ended = stream.head().await.unwrap().ended;
                read_all(stream.into_body(ended), rng).await
            }));
        }
        let (wire, contents) = frames(&mut rng);
        send(&mut far, &wire, &mut rng).await;
        for (reader, content) in readers.into_iter().zip(contents) {
            assert!(reader.await.unwrap() == content, "round {round}: another content came");
        }
        assert!(conn.is_open(), "round {round}");
    }
}

#[tokio::test]
async fn chunks_are_taken_from_between_their_sizes() {
    for round in 0..ROUNDS {
        let mut rng = Rng::new(round);
        let (conn, mut far) = open(Speaks::HTTP1).await;
        // The second one is read into memory of the first.
        for _ in 0..2 {
            let (stream, reader_rng) = (get(&conn).await, Rng::new(round));
            let (wire, content) = chunks(&mut rng);
            let reader = task::spawn(async move {
                let ended = stream.head().await.unwrap().ended;
                read_all(stream.into_body(ended), reader_rng).await
            });
            send(&mut far, &wire, &mut rng).await;
            assert!(reader.await.unwrap() == content, "round {round}: another content came");
        }
    }
}

/// What is not asked for any more is given back, whoever holds it.
#[tokio::test]
async fn content_that_nobody_reads_goes_with_its_stream() {
    let (conn, mut far) = open(Speaks::HTTP2).await;
    let (left, read) = (get(&conn).await, get(&conn).await);
    let payload = [7; 16_384];
    let mut wire = SETTINGS.to_vec();
    (0..2).for_each(|stream| wire.extend(frame(1, 4, stream, &[0x88])));
    (0..3).for_each(|_| wire.extend(frame(0, 0, 0, &payload)));
    wire.extend(frame(0, 1, 1, &payload));
    far.write_all(&wire).await.unwrap();
    let ended = left.head().await.unwrap().ended;
    let mut body = left.into_body(ended);
    assert_eq!(body.chunk().await.unwrap().unwrap().len(), payload.len());
    drop(body);
    let ended = read.head().await.unwrap().ended;
    assert_eq!(read_all(read.into_body(ended), Rng::new(1)).await, payload);
    // The client says that it reads no more of the first: RST_STREAM is among what it wrote.
    let mut wrote = Vec::new();
    conn.close();
    drop(conn);
    far.shutdown().await.unwrap();
    let mut reading = pin!(far.read_to_end(&mut wrote));
    poll_fn(|cx| reading.as_mut().poll(cx)).await.unwrap();
    assert!(wrote.windows(9).any(|head| head == [0, 0, 4, 3, 0, 0, 0, 0, 1]));
}
