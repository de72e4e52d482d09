//! A TCP reset is told as what it is, with the error of the operating system, and is neither a clean close
//! nor a breach.

use std::error::Error as _;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::Duration;

use alula::{Cause, Client, Error, Exchange, Sent, Server, Status};
use socket2::SockRef;
use tokio::time::timeout;

use super::peer::{FOREVER, Wire, listen};

/// Ends a connection with a reset.
fn reset(socket: &TcpStream) {
    SockRef::from(socket).set_linger(Some(Duration::ZERO)).unwrap();
}

fn is_reset(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let is_kept = source.is_some_and(|source| source.kind() == io::ErrorKind::ConnectionReset);
    is_kept && matches!(error.cause(), Cause::Io(io::ErrorKind::ConnectionReset, Some(_)))
}

fn client(http2: bool) -> Client {
    let builder = Client::builder().no_proxy().trust_anything();
    if http2 { builder.http2_only().build().unwrap() } else { builder.build().unwrap() }
}

/// The content of the answer as far as it came, and the error.
async fn read(client: &Client, method: &str, url: &str, content: &[u8]) -> (Vec<u8>, Result<(), Error>) {
    let mut came = Vec::new();
    let whole = async {
        let mut response = client.request(method, url).send_body(content).await?;
        while let Some(chunk) = response.body().chunk().await? {
            came.extend_from_slice(chunk);
        }
        Ok(())
    };
    let end = timeout(FOREVER, whole).await.unwrap();
    (came, end)
}

fn counted(client: &Client) -> Vec<(&'static str, u64)> {
    client.ledger().counts().filter(|(_, count)| *count > 0).collect()
}

#[tokio::test]
async fn a_client_is_told_of_a_reset_wherever_it_comes() {
    for with_tls in [false, true] {
        for (bytes, content) in [
            ("", ""),
            ("HTTP/1.1 2", ""),
            ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello", "hello"),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", "hello"),
            ("HTTP/1.1 200 OK\r\n\r\nhello", "hello"),
        ] {
            let url = listen(with_tls, b"http/1.1", move |_, mut wire| {
                if wire.read_request() {
                    wire.say(bytes.as_bytes());
                    reset(wire.socket());
                }
            });
            let client = client(false);
            let (came, end) = read(&client, "POST", &url, b"1").await;
            let error = end.expect_err(bytes);
            assert!(is_reset(&error), "tls {with_tls}, {bytes:?}: {error:?}");
            assert!(content.as_bytes().starts_with(&came), "{bytes:?}");
            assert_eq!(counted(&client), [], "{bytes:?}");
        }
    }
}

/// The system tells of a reset once: whoever writes is told, and whoever reads then sees a plain end.
#[tokio::test]
async fn a_reset_that_a_write_was_told_of_is_no_clean_end() {
    let url = listen(false, b"http/1.1", |_, mut wire: Wire| {
        if wire.read_head().is_some() {
            wire.say(b"HTTP/1.1 200 OK\r\n\r\nhello");
            reset(wire.socket());
        }
    });
    let client = client(false);
    let (_, end) = read(&client, "POST", &url, &vec![0; 10_000_000]).await;
    let error = end.expect_err("the content is cut");
    assert!(is_reset(&error), "{error:?}");
    assert_eq!(counted(&client), []);
}

/// Answers the first request of the first connection, and resets it when the second comes; others are
/// answered.
fn resets_the_second(http2: bool) -> String {
    listen(false, b"h2", move |number, mut wire| {
        for round in 0..2 {
            let answer = match (http2, round) {
                (true, 0) => {
                    let stream = super::goaway::read_request(&mut wire, true);
                    super::goaway::no_content(stream)
                }
                (true, _) => {
                    // A frame of HEADERS, perhaps after an acknowledgement.
                    wire.read_exact(&mut [0; 9]).unwrap();
                    vec![]
                }
                (false, _) if wire.read_request() => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
                (false, _) => return,
            };
            if number == 0 && round == 1 {
                reset(wire.socket());
                return;
            }
            wire.say(&answer);
        }
    })
}

#[tokio::test]
async fn on_a_connection_that_was_used_before_what_is_idempotent_is_sent_again() {
    for http2 in [false, true] {
        for (method, is_sent_again) in [("POST", false), ("DELETE", true)] {
            let (url, client) = (resets_the_second(http2), client(http2));
            read(&client, method, &url, b"").await.1.unwrap();
            let (_, end) = read(&client, method, &url, b"").await;
            match end {
                Ok(()) => assert!(is_sent_again, "{method}"),
                Err(error) => {
                    assert!(!is_sent_again && is_reset(&error), "http2 {http2}, {method}: {error:?}");
                    assert!(error.is_unanswered(), "{error:?}");
                }
            }
        }
    }
}

/// A server whose handler reads the content, or answers without end, and tells why that ended.
async fn serve() -> (Server, mpsc::Receiver<Option<Error>>, impl Fn(Exchange) -> Handling + Clone) {
    let (tell, told) = mpsc::channel();
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let handler = move |mut exchange: Exchange| -> Handling {
        let tell = tell.clone();
        Box::pin(async move {
            let error = match exchange.request().path() {
                "/read" => loop {
                    match exchange.body().chunk().await {
                        Ok(_) => tell.send(None).unwrap(),
                        Err(error) => break error,
                    }
                },
                _ => {
                    let mut writer = exchange.respond(Status::OK).stream().await?;
                    loop {
                        if let Err(error) = writer.write(&[0; 100_000]).await {
                            break error;
                        }
                    }
                }
            };
            tell.send(Some(error.clone())).unwrap();
            Err(error)
        })
    };
    (server, told, handler)
}

type Handling = std::pin::Pin<Box<dyn Future<Output = Result<Sent, Error>> + Send>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_told_of_a_reset_wherever_it_comes() {
    for request in [
        "POST /read HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello",
        "POST /read HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "GET /write HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let (server, told, handler) = serve().await;
        let (address, ledger) = (server.address().unwrap(), server.ledger());
        tokio::spawn(server.serve(handler));
        let mut socket = TcpStream::connect(address).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        match request.starts_with("GET") {
            true => socket.read_exact(&mut [0; 1000]).unwrap(),
            // The handler has content.
            false => assert!(told.recv_timeout(FOREVER).unwrap().is_none()),
        }
        reset(&socket);
        drop(socket);
        let error = told.iter().flatten().next().unwrap();
        assert!(is_reset(&error), "{request:?}: {error:?}");
        let counted: Vec<_> = ledger.counts().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [], "{request:?}");
    }
}
