//! How long the parts of a call may take, which part an error names, and what a call notes of its parts.
//!
//! Peers are a few lines by hand that stop where a test wants them to. Durations are real, as the
//! connection's clock is.

use std::{io, time::Duration};

use alula::{Cause, Client, Error, Phase, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// What is never to come is waited for so long.
const SOON: Duration = Duration::from_millis(80);
/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);

/// What a peer says, in pieces with so long between them, once it has read the head of a request.
#[derive(Clone, Copy)]
struct Peer {
    says: &'static [&'static str],
    every: Duration,
}

impl Peer {
    async fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(self.speak(socket));
            }
        });
        url
    }

    /// It neither reads what follows nor closes.
    async fn speak(self, mut socket: TcpStream) -> io::Result<()> {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(socket.read_u8().await?);
            }
            for text in self.says {
                socket.write_all(text.as_bytes()).await?;
                sleep(self.every).await;
            }
            if head.starts_with(b"POST") {
                std::future::pending::<()>().await;
            }
        }
    }
}

fn says(says: &'static [&'static str]) -> Peer {
    Peer { says, every: Duration::ZERO }
}

fn is_late(error: &Error, phase: Phase) -> bool {
    error.phase() == phase && matches!(error.cause(), Cause::Timeout)
}

async fn send(call: alula::Call<'_>) -> Result<Vec<u8>, Error> {
    let work = async {
        let mut response = call.send().await?;
        let content = response.body().bytes().await?;
        Ok(content.to_vec())
    };
    timeout(FOREVER, work).await.expect("it ends")
}

#[tokio::test]
async fn a_call_that_has_no_connection_in_time_says_what_it_waited_for() {
    let never = |_: &alula::Destination| std::future::pending::<io::Result<Box<dyn Transport>>>();
    let client = Client::builder().connector(never).build().unwrap();
    let error = send(client.get("http://example.com/").timeout(SOON)).await.unwrap_err();
    assert!(is_late(&error, Phase::Connect), "{error}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let client = Client::builder().trust_anything().build().unwrap();
    let error = send(client.get(&url).timeout(SOON)).await.unwrap_err();
    assert!(is_late(&error, Phase::Handshake), "{error}");
    assert!(error.is_retryable() && error.is_connect(), "{error}");
}

#[tokio::test]
async fn a_head_has_its_own_time_beside_that_of_the_call() {
    let url = says(&[]).start().await;
    let client = Client::builder().head_timeout(FOREVER).timeout(2 * FOREVER).build().unwrap();
    let error = send(client.get(&url).head_timeout(SOON)).await.unwrap_err();
    assert!(is_late(&error, Phase::Head), "{error}");
    let url = says(&["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsome"]).start().await;
    let error = send(client.get(&url).head_timeout(SOON).timeout(4 * SOON)).await.unwrap_err();
    assert!(is_late(&error, Phase::Content), "{error}");
}

#[tokio::test]
async fn content_that_stops_is_not_waited_for() {
    let url = says(&["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsome"]).start().await;
    let client = Client::builder().read_timeout(SOON).build().unwrap();
    let error = send(client.get(&url)).await.unwrap_err();
    assert!(is_late(&error, Phase::Content), "{error}");
    let much = vec![b'x'; 64 << 20];
    // One that had begun to answer would have its response handed over, with what is unsent behind it.
    let silent = says(&[]).start().await;
    let error =
        timeout(FOREVER, client.post(&silent).send_body(&much)).await.expect("it ends").err().unwrap();
    assert!(is_late(&error, Phase::Send), "{error}");
    assert!((1..much.len() as u64).contains(&error.sent()), "{} bytes", error.sent());
    let (mut writer, _pending) = client.post(&url).open().await.unwrap();
    let mut pieces = 0;
    let error = loop {
        match timeout(FOREVER, writer.write(&much[..1 << 20])).await.expect("it ends") {
            Ok(()) => pieces += 1,
            Err(error) => break error,
        }
    };
    assert!(is_late(&error, Phase::Send), "{error}");
    assert!((pieces << 20..(pieces + 1) << 20).contains(&error.sent()), "{} bytes", error.sent());
}

#[tokio::test]
async fn content_that_moves_or_that_nobody_asks_for_may_take_its_time() {
    const PIECES: &[&str] = &["HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n", "som", "eth", "ing", " ok"];
    // All pieces take longer than the timeout, and each far less, so that a busy machine is not taken for a
    // silent peer.
    let slow = Peer { says: PIECES, every: 8 * SOON };
    let url = slow.start().await;
    let client = Client::builder().read_timeout(30 * SOON).build().unwrap();
    assert_eq!(send(client.get(&url)).await.unwrap(), b"something ok");
    let client = Client::builder().read_timeout(10 * SOON).build().unwrap();
    let url = says(PIECES).start().await;
    let mut response = client.get(&url).send().await.unwrap();
    let silent = says(&[]).start().await;
    let error = send(client.get(&silent).timeout(12 * SOON)).await.unwrap_err();
    assert!(is_late(&error, Phase::Head), "content is not waited for here: {error}");
    let mut content = Vec::new();
    while let Some(chunk) = timeout(FOREVER, response.body().chunk()).await.expect("it ends").unwrap() {
        content.extend_from_slice(chunk);
    }
    assert_eq!(content, b"something ok");
}

#[tokio::test]
async fn a_call_that_is_timed_says_how_long_what_took() {
    let url = says(&["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n", "done"]).start().await;
    let client = Client::builder().timing(true).build().unwrap();
    for is_reused in [false, true] {
        let mut response = client.get(&url).send().await.unwrap();
        let timing = response.timing().unwrap();
        assert_eq!(
            (timing.is_reused(), timing.connected.is_none(), timing.end),
            (is_reused, is_reused, None)
        );
        assert_eq!(timing.secured, None);
        while response.body().chunk().await.unwrap().is_some() {}
        let timing = response.timing().unwrap();
        let steps = [timing.connected, Some(timing.queued), timing.sent, Some(timing.head), timing.end];
        let steps: Vec<Duration> = steps.into_iter().flatten().collect();
        assert!(steps.len() == if is_reused { 4 } else { 5 } && steps.is_sorted(), "{timing:?}");
    }
    let client = Client::new().unwrap();
    assert_eq!(client.get(&url).send().await.unwrap().timing(), None);
    assert!(client.get(&url).timed().send().await.unwrap().timing().is_some());
    let (writer, pending) = client.post(&url).timed().open().await.unwrap();
    let response = timeout(FOREVER, pending.response()).await.expect("it ends").unwrap();
    assert_eq!(response.timing().unwrap().sent, None);
    writer.finish().await.unwrap();
    assert!(response.timing().unwrap().sent.is_some());
}
