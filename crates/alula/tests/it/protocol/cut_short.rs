//! A body that RST_STREAM cuts short is an error for its reader, whatever the code; NO_ERROR after the whole
//! response is none (RFC 9113 §8.1). The server is a few frames by hand.

use std::time::Duration;

use alula::{Cause, Client, Error, h2::ErrorCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// `:status: 200`, without END_STREAM.
const HEAD: [u8; 10] = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88];

fn data(flags: u8) -> [u8; 13] {
    [0, 0, 4, 0, flags, 0, 0, 0, 1, b'h', b'a', b'l', b'f']
}

fn rst_stream(code: u8) -> [u8; 13] {
    [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, code]
}

fn goaway(code: u8) -> [u8; 17] {
    [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, code]
}

/// Answers the first request with these frames, and gives what the client reads, or its error. The server has
/// sent all.
async fn read(content: &[u8], frames: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(&SETTINGS).await.unwrap();
        // The magic, and then frames up to HEADERS.
        let mut head = [0; 9];
        socket.read_exact(&mut [0; 24]).await.unwrap();
        while head[3] != 1 {
            socket.read_exact(&mut head).await.unwrap();
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            socket.read_exact(&mut vec![0; length]).await.unwrap();
        }
        socket.write_all(&frames.concat()).await.unwrap();
        socket.shutdown().await.unwrap();
        socket
    };
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let call = async {
        let mut response = client.post(&url).send_body(content).await?;
        let bytes = response.body().bytes().await?;
        Ok(bytes.to_vec())
    };
    let both = async { tokio::join!(answer, call) };
    tokio::time::timeout(Duration::from_secs(20), both).await.expect("in time").1
}

#[tokio::test]
async fn a_body_cut_by_any_code_is_an_error() {
    for code in [ErrorCode::NO_ERROR, ErrorCode::CANCEL, ErrorCode::INTERNAL_ERROR, ErrorCode(0x7f)] {
        let error = read(b"", &[&HEAD, &data(0), &rst_stream(code.0 as u8)]).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Reset(told) if *told == code), "{code}: {error}");
    }
}

#[tokio::test]
async fn who_closes_after_goaway_has_said_why() {
    for frames in [&[&goaway(1)[..]][..], &[&HEAD, &data(0), &goaway(1)]] {
        let error = read(b"", frames).await.unwrap_err();
        let told = matches!(error.cause(), Cause::GoAway(ErrorCode::PROTOCOL_ERROR));
        assert!(told, "{error}");
    }
    let error = read(b"", &[&goaway(0)]).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Closed), "{error}");
}

#[tokio::test]
async fn a_whole_response_stays_whole() {
    // More content than the server's window takes: the client is told to keep the rest.
    for content in [&[][..], &[0; 100_000]] {
        let whole = read(content, &[&HEAD, &data(0), &data(1), &rst_stream(0)]).await.unwrap();
        assert_eq!(whole, b"halfhalf");
    }
}
