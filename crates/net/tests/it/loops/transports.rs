//! Both versions over what is not TCP: content of some size goes up and comes back, through pipes that hold
//! very little, over transports that have to be flushed, and over Unix sockets.

use std::{future::poll_fn, sync::Arc, task::Poll};

use alula_fields::{FieldSection, Status};
use alula_net::{Conn, Incoming, Requests, Socket, Speaks, Turn, h2::ResponseHead};
use tokio::io::{AsyncReadExt as _, BufStream, duplex};
use tokio::task;

use super::ends::{accept, boxed, connect, request};

const CONTENT_BYTES: usize = 300_000;

/// Sends some content over such a pair of sockets, in each version, and compares what comes back.
async fn there_and_back(pair: impl Fn() -> (Socket, Socket)) {
    let content: Vec<u8> = (0..CONTENT_BYTES).map(|at| (at / 7) as u8).collect();
    for speaks in [Speaks::HTTP1, Speaks::HTTP2] {
        let (near, far) = pair();
        // The server finds out what is spoken.
        let server = task::spawn(serve(far));
        let conn = connect(speaks).over(near).await.unwrap();
        for _ in 0..2 {
            assert!(call(&conn, &content).await == content, "the content is not what was sent");
        }
        conn.close();
        drop(conn);
        server.await.unwrap();
    }
}

async fn call(conn: &Arc<Conn>, content: &[u8]) -> Vec<u8> {
    let stream = request(conn, "POST", &FieldSection::new(), false).await;
    let (receiving, sending) = stream.split();
    sending.into_writer().finish_content(content).await.unwrap();
    let answer = receiving.head().await.unwrap();
    read_all(receiving.into_body(answer.ended)).await
}

async fn read_all(mut body: alula_net::Body) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some(chunk) = body.chunk().await.unwrap() {
        content.extend_from_slice(chunk);
    }
    content
}

/// Takes one connection and sends back what it gets, until the client has closed.
async fn serve(socket: Socket) {
    let conn = accept(Speaks::default()).open(socket).await.unwrap();
    let (mut incoming, mut cancelled) = (Requests::default(), Vec::new());
    poll_fn(|cx| {
        loop {
            let turn = conn.turn_of_server(&mut incoming, &mut cancelled, cx);
            cancelled.clear();
            incoming.drain(&conn).for_each(|request| drop(task::spawn(echo(request))));
            if turn != Turn::Progress {
                conn.settle(cx);
                return if turn == Turn::Ended { Poll::Ready(()) } else { Poll::Pending };
            }
        }
    })
    .await;
    conn.finish();
}

async fn echo(Incoming { stream, ended, .. }: Incoming) {
    let (receiving, sending) = stream.split();
    let content = read_all(receiving.into_body(ended)).await;
    let fields = FieldSection::new();
    let head = ResponseHead { status: Status::OK, fields: &fields };
    sending.command(|machine, key, out| machine.send_response(key, &head, false, out)).unwrap();
    sending.into_writer().finish_content(&content).await.unwrap();
}

#[tokio::test]
async fn pipes_that_hold_very_little() {
    there_and_back(|| {
        let (near, far) = duplex(61);
        (boxed(near), boxed(far))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipes_between_threads() {
    there_and_back(|| {
        let (near, far) = duplex(4096);
        (boxed(near), boxed(far))
    })
    .await;
}

/// What is written stays with such a transport until it is flushed.
#[tokio::test]
async fn transports_that_have_to_be_flushed() {
    there_and_back(|| {
        let (near, far) = duplex(1000);
        (boxed(BufStream::new(near)), boxed(BufStream::new(far)))
    })
    .await;
}

#[cfg(unix)]
#[tokio::test]
async fn unix_sockets() {
    there_and_back(|| {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        (near.into(), far.into())
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_is_closed_ends_its_transport() {
    let (near, mut far) = duplex(1000);
    let conn = connect(Speaks::HTTP1).over(boxed(near)).await.unwrap();
    assert_eq!(conn.peer(), None);
    conn.close();
    // The handle is kept: the end has to be said.
    assert_eq!(far.read_to_end(&mut Vec::new()).await.unwrap(), 0);
    drop(conn);
}
