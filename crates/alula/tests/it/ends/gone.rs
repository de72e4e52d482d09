//! Errors that say that the other side went away, of servers and of clients.

use std::{sync::mpsc, time::Duration};

use alula::{Client, Error, Exchange, Sent, Server, Status};
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::listen;

/// Says that a handler has begun, and what it has come to.
type Tells = (UnboundedSender<()>, mpsc::Sender<(bool, String)>);

/// The error of a handler that reads content, with the verdict on it.
async fn reads(mut exchange: Exchange, (begins, tell): Tells) -> Result<Sent, Error> {
    let _ = begins.send(());
    let read = exchange.body().bytes_max(1_000).await.map(drop);
    let verdict = read.as_ref().map_or_else(Error::is_peer_gone, |()| false);
    let _ = tell.send((verdict, format!("{read:?}")));
    read?;
    exchange.respond(Status::OK).send("").await
}

#[tokio::test]
async fn a_handler_knows_that_its_client_is_gone() {
    let (tell, told) = mpsc::channel();
    let (begins, mut begun) = unbounded_channel();
    let address =
        listen(Server::builder(), move |exchange: Exchange| reads(exchange, (begins.clone(), tell.clone())))
            .await;
    let told = tokio::task::spawn_blocking(move || {
        (0..3).map(|_| told.recv_timeout(super::peer::FOREVER).unwrap()).collect::<Vec<_>>()
    });
    let cut = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf";
    let socket = sends(address, cut).await;
    begun.recv().await.unwrap();
    SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
    drop(socket);
    let wrong = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nno length\r\n";
    let _broken = sends(address, wrong).await;
    let long = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000\r\n\r\n";
    let _long = sends(address, long).await;
    let mut verdicts = told.await.unwrap();
    verdicts.sort();
    let gone: Vec<_> = verdicts.iter().map(|(is_gone, _)| *is_gone).collect();
    assert_eq!(gone, [false, false, true], "{verdicts:?}");
}

async fn sends(address: std::net::SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    socket
}

/// A server that reads a request and answers so, and then closes the connection or holds it.
async fn answers(answer: &'static [u8], holds: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let _ = socket.read(&mut [0; 1024]).await;
            socket.write_all(answer).await.unwrap();
            if holds {
                held.push(socket);
            }
        }
    });
    url
}

#[tokio::test]
async fn a_caller_knows_that_its_server_is_gone() {
    let client = Client::builder().timeout(Duration::from_millis(300)).build().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (row, url, is_gone) in [
        ("no answer", answers(b"", false).await, true),
        ("half of one", answers(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", false).await, true),
        ("no answer in time", answers(b"", true).await, false),
        ("no answer of HTTP", answers(b"SSH-2.0-nothing\r\n\r\n", false).await, false),
        ("nobody there", format!("http://{nobody}/"), false),
    ] {
        let error = match client.get(url).send().await {
            Ok(mut response) => response.text().await.map(drop).unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.is_peer_gone(), is_gone, "{row}: {error:?}");
    }
}
