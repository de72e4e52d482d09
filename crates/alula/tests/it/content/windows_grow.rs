//! Receive windows grow over a path that delays, in both roles: a relay moves what has come in one direction
//! at a time, so that each of its rounds is a round trip, whatever else the machine does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use alula::{Client, Error, Exchange, Limits, Sent, Server, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::count;

const MIB: usize = 1 << 20;
const BYTES: usize = 4 * MIB;
/// The time that the relay gives an end to answer what it was brought.
const HALF: Duration = Duration::from_millis(20);

/// Windows as they are by default at first, which may grow to 16 MiB.
fn growing() -> Limits {
    let most = 16 * MIB as u32;
    Limits { stream_window_max: most, connection_window_max: most, ..Limits::default() }
}

/// One direction of a relay: what has come, and where it goes.
struct Way {
    came: UnboundedReceiver<Vec<u8>>,
    to: OwnedWriteHalf,
}

impl Way {
    fn new(mut from: OwnedReadHalf, to: OwnedWriteHalf) -> Self {
        let (sender, came) = unbounded_channel();
        tokio::spawn(async move {
            let mut bytes = vec![0; 256 * 1024];
            while let Ok(length @ 1..) = from.read(&mut bytes).await {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { came, to }
    }

    /// Moves on what has come by now.
    async fn carry(&mut self) {
        while let Ok(bytes) = self.came.try_recv() {
            if self.to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }
}

/// Relays one connection to this port; gives the port it listens on, and counts its rounds.
async fn relay(to: u16, rounds: Arc<AtomicU32>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        let mut ways = [Way::new(from_client, to_server), Way::new(from_server, to_client)];
        loop {
            for way in &mut ways {
                tokio::time::sleep(HALF).await;
                way.carry().await;
            }
            rounds.fetch_add(1, Ordering::Relaxed);
        }
    });
    port
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let bytes = count(exchange.body()).await?;
    let content = vec![7; if bytes == 0 { BYTES } else { 0 }];
    exchange.respond(Status::OK).send(&content).await
}

/// The round trips of a download, or of an upload, after a request without content.
async fn rounds(is_upload: bool, receiver: Limits) -> u32 {
    // Windows of the sender's side are of no interest.
    let (of_client, of_server) =
        if is_upload { (Limits::default(), receiver) } else { (receiver, Limits::default()) };
    let server = Server::builder().limits(of_server).bind("127.0.0.1:0").await.unwrap();
    let (port, stop) = (server.address().unwrap().port(), server.stop_handle());
    tokio::spawn(server.serve(answer));
    let counter = Arc::new(AtomicU32::new(0));
    let url = format!("http://127.0.0.1:{}/", relay(port, counter.clone()).await);
    let client = Client::builder().limits(of_client).http2_prior_knowledge(true).build().unwrap();
    drop(client.head(&url).send().await.unwrap());
    let before = counter.load(Ordering::Relaxed);
    if is_upload {
        let response = client.post(&url).send_body(&vec![7; BYTES]).await.unwrap();
        assert_eq!(response.status(), Status::OK);
    } else {
        let mut response = client.get(&url).send().await.unwrap();
        let bytes = count(response.body()).await.unwrap();
        assert_eq!(bytes, BYTES);
    }
    stop.stop();
    counter.load(Ordering::Relaxed) - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_mebibytes_take_few_round_trips() {
    for is_upload in [false, true] {
        let fixed = Limits { stream_window_max: 0, connection_window_max: 0, ..Limits::default() };
        let (grown, fixed) = (rounds(is_upload, growing()).await, rounds(is_upload, fixed).await);
        println!("upload {is_upload}: {grown} round trips; {fixed} with windows that stay");
        assert!(fixed >= 16, "{fixed}");
        assert!(grown <= 8, "{grown}");
    }
}
