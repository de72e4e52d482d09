//! A server of HTTP/1.1 that keeps the heads of its requests, over whatever reads and writes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The heads that were received, as they were sent.
#[derive(Clone, Default)]
pub(crate) struct Heads(Arc<Mutex<Vec<String>>>);

impl Heads {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    pub(crate) fn note(&self, head: String) {
        self.0.lock().unwrap().push(head);
    }
}

/// Reads up to the end of a head; nothing when the other end has closed.
pub(crate) async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// Answers each request, until the client closes.
pub(crate) async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, heads: Heads) {
    while let Some(head) = head(&mut stream).await {
        heads.note(head);
        if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await.is_err() {
            return;
        }
        stream.flush().await.unwrap();
    }
}

/// Answers whoever connects over TCP.
pub(crate) async fn listen() -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let kept = heads.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer(socket, kept.clone()));
        }
    });
    (address, heads)
}

/// Where nobody listens.
pub(crate) async fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// The content of a response to GET.
pub(crate) async fn get(client: &alula_client::Client, url: &str) -> Result<String, alula_client::Error> {
    let mut response = client.get(url).send().await?;
    let mut content = Vec::new();
    while let Some(chunk) = response.body().chunk().await? {
        content.extend_from_slice(chunk);
    }
    Ok(String::from_utf8(content).unwrap())
}
