//! How long a connection outlives its client, on a clock that stands still while anybody has something to do.

use std::time::Duration;

use alula_client::{Client, Destination, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// A client whose connections are pipes, the other ends of which are sent there.
fn client(ends: UnboundedSender<DuplexStream>) -> Client {
    let connector = move |_: &Destination| {
        let (near, far) = tokio::io::duplex(4096);
        ends.send(far).unwrap();
        async { Ok(Box::new(near) as Box<dyn Transport>) }
    };
    Client::builder().connector(connector).build().unwrap()
}

async fn read_head(stream: &mut DuplexStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
}

/// Nothing follows the last answer that would have to be waited for.
#[tokio::test(start_paused = true)]
async fn a_connection_of_http1_ends_in_the_moment_in_which_its_client_does() {
    let (tell, mut ends) = unbounded_channel();
    let client = client(tell);
    let server = tokio::spawn(async move {
        let mut stream = ends.recv().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        Instant::now()
    });
    assert_eq!(client.get("http://a.example/").send().await.unwrap().status().as_u16(), 204);
    let dropped_at = Instant::now();
    drop(client);
    assert_eq!(server.await.unwrap() - dropped_at, Duration::ZERO);
}
