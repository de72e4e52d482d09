//! Routes that decode the content of requests, over both versions: what their handlers see, and what is
//! refused.
#![cfg(all(feature = "gzip", feature = "brotli", feature = "zstd"))]

use std::io::Write as _;

use alula::{Answer, Client, Exchange, Next, Response, Router, Sent, Status, routing::post};
use flate2::{Compression, write::GzEncoder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{clients, count, serve, within};

const SMALL: usize = 1000;
const TEXT: &[u8] = b"a small thing";
/// The same, made with the brotli of Node.
const BROTLI: &[u8] = b"\x1b\x0c\x00\xf8\xa5\x40\xc2\x6a\x91\x49\x6a\x03\x58\x86\x06";
/// 10 MiB of zeros, from the same.
const BROTLI_BOMB: &[u8] =
    b"\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x2f\xff\xff\x3f\xf0\x4f\x00\xc4\x61\x11\x80\
    \xee\xfd\x07";
const ACCEPTED: &[u8] = b"gzip, deflate, br, zstd";

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A frame of zstd whose window has this exponent, of blocks that each say a byte 128 Ki times.
fn zstd(window_log: u8, blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (window_log - 10) << 3];
    for block in 1..=blocks {
        let header = u32::from(block == blocks) | 1 << 1 | (128 << 10) << 3;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// Says what it sees of the request, and its content.
async fn see(mut exchange: Exchange) -> Result<Sent, Answer> {
    let fields = ["content-encoding", "content-length"]
        .map(|name| exchange.request().headers().text(name).unwrap_or("-").to_owned());
    let is_decoded = exchange.body().is_decoded();
    let came = exchange.body().coded_headers().is_some_and(|fields| fields.contains("content-encoding"));
    assert_eq!(came, is_decoded, "what came can still be asked for");
    let content = exchange.body().bytes().await?;
    let reply = exchange.respond(Status::OK).header("x-coding", &fields[0]).header("x-length", &fields[1]);
    Ok(reply.header("x-decoded", is_decoded.to_string()).send(content).await?)
}

/// Reads piece by piece, which nothing bounds but the decoder.
async fn counts(mut exchange: Exchange) -> Result<Sent, Answer> {
    let bytes = count(exchange.body()).await?;
    Ok(exchange.respond(Status::OK).send(bytes.to_string()).await?)
}

/// A layer of the route, which sees what the handler sees.
async fn look(mut exchange: Exchange, next: Next) -> Result<Sent, Answer> {
    let is_decoded = exchange.body().is_decoded();
    assert!(is_decoded != exchange.request().headers().contains("content-encoding"));
    next.run(exchange).await
}

async fn pass(exchange: Exchange, next: Next) -> Result<Sent, Answer> {
    next.run(exchange).await
}

async fn start() -> String {
    // A layer around all routes leads to the refusals as well.
    let router = Router::new()
        .wrap(pass)
        .route("/see", post(see).decompress().wrap(look))
        .route("/small", post(see).content_max(SMALL).decompress())
        .route("/count", post(counts).decompress().content_max(64 << 20))
        .route("/piecewise", post(counts).decompress().content_max(SMALL))
        .route("/plain", post(see));
    serve(router.build().unwrap()).await
}

async fn send(client: &Client, url: &str, codings: &str, content: &[u8]) -> Response {
    within(client.post(url).header("content-encoding", codings).send_body(content)).await.unwrap()
}

/// The status and the text of an answer.
async fn told(client: &Client, url: &str, codings: &str, content: &[u8]) -> (u16, String) {
    let mut response = send(client, url, codings, content).await;
    (response.status().as_u16(), within(response.text()).await.unwrap())
}

#[tokio::test]
async fn handlers_see_decoded_content_and_no_fields_of_the_coded() {
    let origin = start().await;
    let mut zlib = Vec::with_capacity(100);
    let mut encoder = flate2::Compress::new(Compression::best(), true);
    encoder.compress_vec(TEXT, &mut zlib, flate2::FlushCompress::Finish).unwrap();
    for client in clients() {
        for (codings, coded) in [
            ("gzip", gzip(TEXT)),
            ("X-GZip", gzip(TEXT)),
            ("deflate", zlib.clone()),
            ("br", BROTLI.to_vec()),
            ("br, gzip", gzip(BROTLI)),
            ("gzip, identity, , gzip", gzip(&gzip(TEXT))),
        ] {
            let mut response = send(&client, &format!("{origin}/see"), codings, &coded).await;
            let seen =
                ["x-coding", "x-length", "x-decoded"].map(|name| response.headers().text(name).unwrap());
            assert_eq!(seen, ["-", "-", "true"], "{codings}");
            assert_eq!(within(response.bytes()).await.unwrap(), TEXT, "{codings}");
        }
        let (status, zeros) = told(&client, &format!("{origin}/see"), "zstd", &zstd(20, 1)).await;
        assert_eq!((status, zeros.len()), (200, 128 << 10));
    }
}

#[tokio::test]
async fn content_in_no_coding_is_left_as_it_is_and_so_is_all_of_other_routes() {
    let origin = start().await;
    for client in clients() {
        for codings in ["identity", "", "Identity, ,"] {
            let mut response = send(&client, &format!("{origin}/see"), codings, TEXT).await;
            assert_eq!(response.headers().text("x-decoded"), Some("false"));
            assert_eq!(response.headers().text("x-length"), Some("13"));
            assert_eq!(within(response.bytes()).await.unwrap(), TEXT);
        }
        for (codings, coded) in [("gzip", gzip(TEXT)), ("rot13", b"n fznyy guvat".to_vec())] {
            let mut response = send(&client, &format!("{origin}/plain"), codings, &coded).await;
            assert_eq!(response.headers().text("x-coding"), Some(codings));
            assert_eq!(response.headers().text("x-length"), Some(&*coded.len().to_string()));
            assert_eq!(within(response.bytes()).await.unwrap(), coded);
        }
        // No content is in no coding.
        let response = send(&client, &format!("{origin}/see"), "rot13", b"").await;
        assert_eq!(response.status(), Status::OK);
        assert_eq!(told(&client, &format!("{origin}/see"), "gzip", b"").await, (200, String::new()));
    }
}

#[tokio::test]
async fn codings_that_are_not_known_and_too_many_of_them_are_415_with_those_that_are() {
    let origin = start().await;
    for client in clients() {
        for codings in ["rot13", "gzip, rot13", "rot13, gzip", "gzip, gzip, gzip", "gzip;q=1", "utf-8"] {
            let response = send(&client, &format!("{origin}/see"), codings, &gzip(TEXT)).await;
            assert_eq!(response.status(), Status::UNSUPPORTED_MEDIA_TYPE, "{codings}");
            assert_eq!(response.headers().get("accept-encoding"), Some(ACCEPTED), "{codings}");
        }
    }
}

#[tokio::test]
async fn the_size_that_counts_is_the_decoded_one() {
    let origin = start().await;
    for client in clients() {
        for (bytes, status) in [(SMALL, 200), (SMALL + 1, 413)] {
            let coded = gzip(&vec![b'x'; bytes]);
            let (small, text) = told(&client, &format!("{origin}/small"), "gzip", &coded).await;
            assert_eq!(small, status, "{bytes}");
            assert!(status == 200 || text.contains("longer than 1000 bytes"), "{text}");
            assert_eq!(told(&client, &format!("{origin}/piecewise"), "gzip", &coded).await.0, status);
        }
        // More coded than decoded, as little content is.
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise: Vec<u8> = (0..SMALL).map(|_| byte()).collect();
        let coded = gzip(&noise);
        assert!(coded.len() > SMALL);
        assert_eq!(told(&client, &format!("{origin}/small"), "gzip", &coded).await.0, 200);
        // The default of the server, 2 MiB, where the route names none.
        let coded = gzip(&vec![0; 3 << 20]);
        assert_eq!(told(&client, &format!("{origin}/see"), "gzip, gzip", &gzip(&coded)).await.0, 413);
    }
}

#[tokio::test]
async fn bytes_that_decode_to_nothing_come_to_an_end() {
    let origin = start().await;
    let coded = [gzip(TEXT), vec![0; 2 * SMALL + (64 << 10)]].concat();
    for client in clients() {
        // Stated, it is refused at once; without a length, when so much of it was read.
        let (status, text) = told(&client, &format!("{origin}/small"), "gzip", &coded).await;
        assert!(status == 413 && text.contains("longer than this path takes"), "{status} {text}");
        let url = format!("{origin}/small");
        let call = client.post(&url).header("content-encoding", "gzip");
        let content = alula::Content::reader(std::io::Cursor::new(coded.clone()));
        let mut response = within(call.content(content).send()).await.unwrap();
        assert_eq!(response.status(), Status::CONTENT_TOO_LARGE);
        assert!(within(response.text()).await.unwrap().contains("longer than 1000 bytes"));
        let within_bound = &coded[..coded.len() - gzip(TEXT).len()];
        assert_eq!(told(&client, &format!("{origin}/small"), "gzip", within_bound).await.0, 200);
    }
}

#[tokio::test]
async fn bombs_are_413() {
    let origin = start().await;
    let zeros = vec![0; 10 << 20];
    let once = gzip(&zeros);
    for client in clients() {
        for (codings, bomb) in
            [("gzip", &once[..]), ("gzip, gzip", &gzip(&once)), ("br", BROTLI_BOMB), ("zstd", &zstd(23, 80))]
        {
            let url = format!("{origin}/count");
            let (status, text) = told(&client, &url, codings, bomb).await;
            assert_eq!(status, 413, "{codings}: {text}");
            assert!(text.contains("more than 100 times"), "{codings}: {text}");
            // A client that is told so goes on with its connection.
            assert_eq!(told(&client, &url, "gzip", &gzip(TEXT)).await, (200, "13".into()));
        }
    }
}

#[tokio::test]
async fn malformed_content_is_400() {
    let origin = start().await;
    let coded = gzip(TEXT);
    let mut damaged = coded.clone();
    damaged[12] ^= 0xff;
    for client in clients() {
        for (codings, content) in [
            ("gzip", TEXT),
            ("gzip", &damaged),
            ("gzip", &coded[..coded.len() - 1]),
            ("gzip", &coded[..1]),
            ("gzip, gzip", &coded),
            ("br", b"\xff\xff\xff"),
            ("br", &[BROTLI, b"more"].concat()),
            ("zstd", TEXT),
            // A window of 2 GiB.
            ("zstd", &zstd(31, 1)),
            ("zstd", &zstd(24, 1)),
        ] {
            let (status, text) = told(&client, &format!("{origin}/see"), codings, content).await;
            assert_eq!(status, 400, "{codings}: {text}");
            assert!(text.contains("cannot be decoded"), "{codings}: {text}");
        }
    }
}

#[tokio::test]
async fn an_expectation_is_refused_before_the_content_is_asked_for() {
    let origin = start().await;
    let address = origin.strip_prefix("http://").unwrap();
    for (fields, status) in [
        ("content-encoding: rot13\r\ncontent-length: 50\r\n", "415"),
        ("content-encoding: gzip\r\ncontent-length: 70000\r\n", "413"),
    ] {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = format!("POST /small HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n{fields}\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 500];
        let bytes = within(socket.read(&mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..bytes]);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    for client in clients() {
        let url = format!("{origin}/see");
        let call = client.post(&url).header("expect", "100-continue").header("content-encoding", "rot13");
        let (writer, pending) = within(call.open()).await.unwrap();
        assert!(!within(pending.go_ahead()).await.unwrap());
        assert_eq!(within(pending.response()).await.unwrap().status(), 415);
        drop(writer);
        let call = client.post(&url).header("expect", "100-continue");
        let coded = gzip(TEXT);
        let mut response = within(call.header("content-encoding", "gzip").send_body(&coded)).await.unwrap();
        assert_eq!(within(response.bytes()).await.unwrap(), TEXT);
    }
}
