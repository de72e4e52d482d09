//! A server that closes a connection while the next request is on its way: it says nothing, so that nobody
//! knows whether it has acted on the request. What is idempotent is sent again (RFC 9112 §9.3.1), over either
//! version.

use std::time::Duration;

use alula::{Cause, Client, Error, Retry, Status, h1};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use super::frames::{begin, ok, read_request};

use crate::support::client;

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);

/// Answers so many requests on each connection, reads one more head, and closes. Each head that came is told.
async fn serve(http2: bool, answers: &'static [usize], heads: watch::Sender<usize>, listener: TcpListener) {
    for answers in answers {
        let (mut socket, _) = listener.accept().await.unwrap();
        if http2 {
            begin(&mut socket).await;
        }
        for round in 0..=*answers {
            let Some(answer) =
                (if http2 { http2_head(&mut socket).await } else { http1_head(&mut socket).await })
            else {
                return;
            };
            heads.send_modify(|heads| *heads += 1);
            if round < *answers {
                socket.write_all(&answer).await.unwrap();
            }
        }
    }
}

/// Reads a head up to its end; gives what answers it.
async fn http1_head(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    Some(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec())
}

async fn http2_head(socket: &mut TcpStream) -> Option<Vec<u8>> {
    read_request(socket).await.ok().map(ok)
}

async fn send(client: &Client, method: &str, url: &str) -> Result<Status, Error> {
    let sent = timeout(FOREVER, client.request(method, url).send()).await.expect("it ends");
    sent.map(|response| response.status())
}

fn is_unanswered(error: &Error, is_reused: bool) -> bool {
    match error.cause() {
        Cause::Unanswered => is_reused,
        Cause::Http1(h1::ConnectionError::Unanswered { is_reused: said }) => *said == is_reused,
        _ => !is_reused,
    }
}

/// For each: the method, how many requests each connection answers, how the requests end, and how many heads
/// came in all.
#[tokio::test]
async fn what_is_idempotent_is_sent_again_where_the_connection_had_been_used() {
    const CASES: [(&str, &[usize], [bool; 2], usize); 5] = [
        ("DELETE", &[1, 1], [true, true], 3),
        // Whether it was carried out is not known.
        ("POST", &[1, 1], [true, false], 2),
        // Nor does a new connection close by chance.
        ("DELETE", &[0, 1], [false, true], 2),
        // There is an end to it.
        ("DELETE", &[1, 0, 1], [true, false], 3),
        // That nobody listens any more does not make it safe: the first try may have been carried out.
        ("DELETE", &[1], [true, false], 2),
    ];
    for http2 in [false, true] {
        for (method, answers, outcomes, heads_expected) in CASES {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/", listener.local_addr().unwrap());
            let (came, heads) = watch::channel(0);
            tokio::spawn(serve(http2, answers, came, listener));
            let client = client(http2);
            for is_answered in outcomes {
                let case = format!("{method} {answers:?}, http2 {http2}");
                match send(&client, method, &url).await {
                    Ok(status) => assert!(is_answered && status == Status::OK, "{case}"),
                    Err(error) => {
                        assert!(!is_answered && error.retry() == Retry::IfIdempotent, "{case}: {error}");
                        assert!(is_unanswered(&error, method == "POST"), "{case}: {error:?}");
                    }
                }
            }
            assert_eq!(*heads.borrow(), heads_expected, "{method} {answers:?}, http2 {http2}");
        }
    }
}
