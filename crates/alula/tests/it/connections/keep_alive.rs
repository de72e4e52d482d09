//! A client sends PING on a silent connection that calls wait on, and gives it up when no answer comes.
//!
//! Durations are real, as the connection's clock is: tests wait for what the peer sees and never for time to
//! pass.

use std::{net::SocketAddr, time::Duration};

use alula::h2::{Awaited, ConnectionError};
use alula::{Cause, Client, Error, Phase, Retry, Status};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::frames::{ACK, CONNECTION, GOAWAY, HEADERS, PING, SETTINGS, frame, ok, read, read_magic};

/// So long nothing is heard until the client asks.
const QUIET: Duration = Duration::from_millis(20);
/// So long the client waits for an answer to its PING, where none comes: others have to answer within it.
const ANSWER_WITHIN: Duration = Duration::from_millis(400);
/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(60);

/// How the peer behaves on one connection.
#[derive(Clone, Copy, PartialEq)]
enum Conduct {
    /// Answers requests once it was asked so often whether it lives.
    AnswersAfter { pings: usize },
    /// Sends its settings and no more.
    Silent,
}

/// What the peer has seen.
#[derive(Debug, Eq, PartialEq)]
enum Seen {
    Connection,
    Ping,
    Goaway,
    End,
}

#[tokio::test]
async fn a_call_waits_on_while_pings_are_answered() {
    let (address, mut seen) = serve([Conduct::AnswersAfter { pings: 3 }]).await;
    let client = Client::builder().http2_prior_knowledge(true).keep_alive(QUIET, FOREVER).build().unwrap();
    get(&client, address).await.unwrap();
    get(&client, address).await.unwrap();
    assert_eq!(next(&mut seen).await, Seen::Connection);
    for _ in 0..3 {
        assert_eq!(next(&mut seen).await, Seen::Ping);
    }
}

#[tokio::test]
async fn calls_fail_when_a_ping_is_not_answered() {
    let (address, mut seen) = serve([Conduct::Silent, Conduct::AnswersAfter { pings: 0 }]).await;
    let client =
        Client::builder().http2_prior_knowledge(true).keep_alive(QUIET, ANSWER_WITHIN).build().unwrap();
    let calls = [(); 3].map(|()| {
        let client = client.clone();
        tokio::spawn(async move { get(&client, address).await })
    });
    for call in calls {
        expect_given_up(&call.await.unwrap().unwrap_err());
    }
    // The client asked once, said that it goes, and went.
    for event in [Seen::Connection, Seen::Ping, Seen::Goaway, Seen::End] {
        assert_eq!(next(&mut seen).await, event);
    }
    get(&client, address).await.unwrap();
    assert_eq!(next(&mut seen).await, Seen::Connection);
}

/// What a call is told whose connection was given up.
fn expect_given_up(error: &Error) {
    let Cause::Connection(cause) = error.cause() else { panic!("{error:?}") };
    assert_eq!(*cause, ConnectionError::TimedOut(Awaited::Pong));
    assert_eq!((error.phase(), error.retry()), (Phase::Head, Retry::IfIdempotent));
}

async fn next(seen: &mut UnboundedReceiver<Seen>) -> Seen {
    tokio::time::timeout(FOREVER, seen.recv()).await.expect("something happens").unwrap()
}

async fn get(client: &Client, address: SocketAddr) -> Result<(), Error> {
    let url = format!("http://{address}/");
    let response = tokio::time::timeout(FOREVER, client.get(&url).send()).await.expect("an outcome")?;
    assert_eq!(response.status(), Status::OK);
    Ok(())
}

/// Starts a peer that behaves like this on one connection after the other.
async fn serve<const COUNT: usize>(conduct: [Conduct; COUNT]) -> (SocketAddr, UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, seen) = unbounded_channel();
    tokio::spawn(async move {
        for conduct in conduct {
            let (socket, _) = listener.accept().await.unwrap();
            tell.send(Seen::Connection).unwrap();
            tokio::spawn(converse(socket, conduct, tell.clone()));
        }
    });
    (address, seen)
}

/// Reads to the end, answering as its conduct is. Nobody may listen any more when a test is over.
async fn converse(mut socket: TcpStream, conduct: Conduct, tell: UnboundedSender<Seen>) {
    read_magic(&mut socket).await;
    socket.write_all(&frame(SETTINGS, 0, CONNECTION, &[])).await.unwrap();
    let (mut pings, mut unanswered) = (0, Vec::new());
    while let Ok(came) = read(&mut socket).await {
        let mut answer = Vec::new();
        match came.kind {
            SETTINGS if came.is_settings(0) => answer = frame(SETTINGS, ACK, CONNECTION, &[]),
            PING => {
                pings += 1;
                _ = tell.send(Seen::Ping);
                answer = frame(PING, ACK, CONNECTION, &came.payload);
            }
            HEADERS => unanswered.push(came.stream),
            GOAWAY => _ = tell.send(Seen::Goaway),
            _ => {}
        }
        let Conduct::AnswersAfter { pings: awaited } = conduct else { continue };
        if pings >= awaited {
            answer.extend(unanswered.drain(..).flat_map(ok));
        }
        socket.write_all(&answer).await.unwrap();
    }
    _ = tell.send(Seen::End);
}
