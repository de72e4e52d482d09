//! What a server allowed before is kept to on the next connection, until it says what it allows there: without that, 100
//! streams are opened (RFC 9113 §5.1.2), and those that are too many are refused.

use std::time::Duration;

use alula::{Client, Status};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

use crate::frames::{ACK, CONNECTION, GOAWAY, HEADERS, SETTINGS, frame, ok, read, read_magic, read_request};

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);
const STREAMS: u32 = 2;
const CALLS: u32 = 5;

/// SETTINGS that allow so many streams.
fn settings(streams: u32) -> Vec<u8> {
    frame(SETTINGS, 0, CONNECTION, &[&[0, 3][..], &streams.to_be_bytes()].concat())
}

/// Says at once what it allows, answers one request and goes away.
async fn tell_and_go(socket: &mut TcpStream) {
    read_magic(socket).await;
    socket.write_all(&settings(STREAMS)).await.unwrap();
    let stream = read_request(socket).await.unwrap();
    while !read(socket).await.unwrap().is_settings(ACK) {}
    let goaway = frame(GOAWAY, 0, CONNECTION, &[stream, [0; 4]].concat());
    socket.write_all(&[ok(stream), goaway].concat()).await.unwrap();
}

/// Says what it allows once so many requests are there; answers all. Gives how many came before the client knew.
async fn tell_late(socket: &mut TcpStream) -> u32 {
    read_magic(socket).await;
    let (mut requests, mut before) = (0, None);
    let mut held = Vec::new();
    while requests < CALLS {
        let frame = read(socket).await.unwrap();
        if frame.is_settings(ACK) {
            before = Some(requests);
            socket.write_all(&std::mem::take(&mut held)).await.unwrap();
        }
        if frame.kind != HEADERS {
            continue;
        }
        requests += 1;
        held.extend(ok(frame.stream));
        match before {
            Some(_) => socket.write_all(&std::mem::take(&mut held)).await.unwrap(),
            None if requests == STREAMS => socket.write_all(&settings(STREAMS)).await.unwrap(),
            None => {}
        }
    }
    before.unwrap_or(requests)
}

#[tokio::test]
async fn no_more_streams_are_opened_than_were_allowed_before() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let server = tokio::spawn(async move {
        let mut first = listener.accept().await.unwrap().0;
        tell_and_go(&mut first).await;
        let mut second = listener.accept().await.unwrap().0;
        tell_late(&mut second).await
    });
    let get = |client: Client, url: String| async move {
        let response = timeout(FOREVER, client.get(&url).send()).await.expect("it ends").unwrap();
        assert_eq!(response.status(), Status::OK);
    };
    get(client.clone(), url.clone()).await;
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(get(client.clone(), url.clone()));
    }
    calls.join_all().await;
    assert_eq!(server.await.unwrap(), STREAMS);
}
