//! An error about a limit says what was seen, the name of the limit and its value, in both versions.

use alula::{Client, Error, Limits};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// The URL of a peer that answers a request of HTTP/1.1 with this.
async fn answering(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await.unwrap();
        let _ = socket.write_all(answer.as_bytes()).await;
        let _ = socket.read_to_end(&mut Vec::new()).await;
    });
    url
}

async fn failure(client: &Client, url: &str) -> Error {
    match client.get(url).send().await {
        Err(error) => error,
        Ok(mut response) => response.bytes().await.unwrap_err(),
    }
}

#[tokio::test]
async fn over_http1_on_a_client() {
    let head = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let chunk = format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(2000));
    let whole = format!("a: {}\r\n", "x".repeat(20_000));
    let head_is = "waiting for the response headers: the head has";
    for (answer, sentence) in [
        (head(&"a: b\r\n".repeat(101)), format!("{head_is} 101 fields or more; Limits::fields is 100")),
        // What has come of the line depends on how it was read.
        (head(&whole), String::from("octets or more; Limits::head_bytes is 16384")),
        (
            "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17),
            "waiting for the response headers: there were 17 interim responses; Limits::interim_responses is 16".into(),
        ),
        (
            format!("{}{chunk}", head("transfer-encoding: chunked\r\n")),
            "the extensions of chunks have 1025 octets or more; Limits::chunk_extension_bytes is 1024".into(),
        ),
    ] {
        let url = answering(answer).await;
        let error = failure(&Client::new().unwrap(), &url).await;
        assert!(error.to_string().ends_with(&sentence), "{error}");
        let exceeded = error.exceeded().unwrap();
        assert!(exceeded.seen > exceeded.bound && sentence.contains(exceeded.limit()), "{error}");
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The URL of a peer that answers the first request of HTTP/2 with these frames.
async fn answering_frames(frames: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(&frame(4, 0, 0, &[])).await.unwrap();
        socket.read_exact(&mut [0; 24]).await.unwrap();
        let mut header = [0; 9];
        // Until HEADERS have come.
        while header[3] != 1 {
            socket.read_exact(&mut header).await.unwrap();
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
            socket.read_exact(&mut vec![0; length as usize]).await.unwrap();
        }
        let _ = socket.write_all(&frames).await;
        let _ = socket.read_to_end(&mut Vec::new()).await;
    });
    url
}

/// `:status` 200 and this field, so often.
fn head(value: &[u8], times: usize) -> Vec<u8> {
    let field = [&[0, 1, b'a', value.len() as u8], value].concat();
    frame(1, 4, 1, &[vec![0x88], field.repeat(times)].concat())
}

#[tokio::test]
async fn over_http2_on_a_client() {
    let limits = Limits { field_section_bytes: 8000, ..Limits::client() };
    let client = Client::builder().http2_prior_knowledge(true).limits(limits).build().unwrap();
    let waiting = "waiting for the response headers:";
    let section = "with 32 for each field; Limits::field_section_bytes is 8000";
    for (frames, sentence) in [
        (head(b"", 101), format!("{waiting} the head has 101 fields or more; Limits::fields is 100")),
        (head(&[b'x'; 100], 80), format!("{waiting} the field section has 10682 octets or more, {section}")),
        (
            frame(4, 0, 0, &[0; 33 * 6]),
            format!("{waiting} a SETTINGS frame has 33 entries; Limits::settings_entries is 32"),
        ),
        (
            frame(8, 0, 0, &[0, 0, 0, 1]).repeat(2000),
            String::from("frames that were useless or broken; Limits::glitch_burst is 200"),
        ),
    ] {
        let url = answering_frames(frames).await;
        let error = failure(&client, &url).await;
        assert!(error.to_string().ends_with(&sentence), "{error}");
    }
}
