//! An error about a limit says what was seen, the name of the limit and its value, in both versions.

use alula::{Client, Error, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

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
    let whole = format!("a: {}\r\n", "x".repeat(300_000));
    let head_is = "waiting for the response headers: the head has";
    for (answer, sentence) in [
        (head(&"a: b\r\n".repeat(1001)), format!("{head_is} 1001 fields or more; Limits::fields is 1000")),
        // What has come of the line depends on how it was read.
        (head(&whole), String::from("bytes or more; Limits::head_bytes is 262144")),
        (
            "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(101),
            "waiting for the response headers: there were 101 interim responses; Limits::interim_responses is 100".into(),
        ),
        // Each of them is within the bound of a head; all together are not.
        (
            format!("HTTP/1.1 103 Early Hints\r\n{}\r\n", "a: b\r\n".repeat(900)).repeat(60),
            "waiting for the response headers: the interim responses have 265972 bytes; Limits::head_bytes is 262144".into(),
        ),
        (
            format!("{}{chunk}", head("transfer-encoding: chunked\r\n")),
            "the extensions of chunks have 1025 bytes or more; Limits::chunk_extension_bytes is 1024".into(),
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

/// `:status` 103 and this field, so often.
fn interim(value: &[u8], times: usize) -> Vec<u8> {
    let field = [&[0, 1, b'a', value.len() as u8], value].concat();
    frame(1, 4, 1, &[&[0x08, 3][..], b"103", &field.repeat(times)].concat())
}

/// `:status` 200 and this field, so often, in as many frames as that takes.
fn large_head(value: &[u8], times: usize) -> Vec<u8> {
    let field = [&[0, 1, b'a', value.len() as u8], value].concat();
    let block = [vec![0x88], field.repeat(times)].concat();
    let frames = block.chunks(16_384).enumerate().map(|(number, fragment)| {
        let (kind, end_stream) = if number == 0 { (1, 1) } else { (9, 0) };
        let end_headers = if (number + 1) * 16_384 >= block.len() { 4 } else { 0 };
        frame(kind, end_stream | end_headers, 1, fragment)
    });
    frames.flatten().collect()
}

/// `:status` 200 and this field, so often.
fn head(value: &[u8], times: usize) -> Vec<u8> {
    let field = [&[0, 1, b'a', value.len() as u8], value].concat();
    frame(1, 4, 1, &[vec![0x88], field.repeat(times)].concat())
}

#[tokio::test]
async fn over_http2_on_a_client() {
    let limits = Limits { field_section_bytes: 8000, fields: 100, ..Limits::client() };
    let client = Client::builder().http2_prior_knowledge(true).limits(limits).build().unwrap();
    let waiting = "waiting for the response headers:";
    let section = "with 32 for each field; Limits::field_section_bytes is 8000";
    for (frames, sentence) in [
        (head(b"", 101), format!("{waiting} the head has 101 fields or more; Limits::fields is 100")),
        (
            interim(&[b'x'; 100], 20).repeat(3),
            format!("{waiting} the interim responses have 8106 bytes, {section}"),
        ),
        (head(&[b'x'; 100], 80), format!("{waiting} the field section has 10682 bytes or more, {section}")),
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

/// Servers of the wild send heads of many cookies and policies: what browsers and curl take, a client takes
/// by default.
#[tokio::test]
async fn a_client_takes_large_heads_by_default() {
    let fields = format!("a: {}\r\n", "x".repeat(120)).repeat(900);
    let many = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(90);
    let url = answering(format!("{many}HTTP/1.1 200 OK\r\n{fields}content-length: 0\r\n\r\n")).await;
    let response = Client::new().unwrap().get(&url).send().await.unwrap();
    assert_eq!(response.headers().iter().count(), 901);
    let line = format!("HTTP/1.1 200 OK\r\na: {}\r\ncontent-length: 0\r\n\r\n", "x".repeat(250_000));
    let response = Client::new().unwrap().get(&answering(line).await).send().await.unwrap();
    assert_eq!(response.headers().get("a").map(<[u8]>::len), Some(250_000));

    let many = interim(b"b", 1).repeat(90);
    let url = answering_frames([many, large_head(&[b'x'; 120], 900)].concat()).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let response = client.get(&url).send().await.unwrap();
    assert_eq!(response.headers().iter().count(), 900);
}

/// A few bytes that name a long entry of the HPACK table again and again are refused long before a head that
/// was sent in full.
#[tokio::test]
async fn a_head_is_paid_for_by_what_the_peer_sends() {
    let entry = [&[0x40, 1, b'b', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000]].concat();
    let bomb = |names: usize| {
        let block = [vec![0x88], entry.clone(), vec![0xbe; names]].concat();
        frame(1, 5, 1, &block)
    };
    let limits = Limits { field_section_bytes: 1 << 20, fields: 5000, ..Limits::client() };
    let client = Client::builder().http2_prior_knowledge(true).limits(limits).build().unwrap();
    // A page may name a policy of 4 KB a few times, but not sixty times in a block of 4 KB.
    let response = client.get(&answering_frames(bomb(3)).await).send().await.unwrap();
    assert_eq!(response.headers().iter().count(), 4);
    let error = failure(&client, &answering_frames(bomb(60)).await).await;
    assert!(error.to_string().contains("Limits::field_section_expansion"), "{error}");
}
