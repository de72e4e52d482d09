//! Interim responses that come before it is said that anybody wants to hear of them (RFC 9110 §15.2).

use std::{future::poll_fn, pin::pin, task::Poll};

use alula_fields::{FieldSection, Status};
use alula_net::{Speaks, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::ends::{boxed, connect, request};

/// A stream that expects to be asked for content, and has been: the rest of what is here came along.
async fn asked() -> (Stream, DuplexStream) {
    let (near, mut far) = duplex(4096);
    let conn = connect(Speaks::HTTP1).over(boxed(near)).await.unwrap();
    let mut fields = FieldSection::new();
    fields.append("expect", "100-continue").unwrap();
    fields.append("content-length", "1").unwrap();
    let stream = request(&conn, "POST", &fields, false).await;
    far.read_u8().await.unwrap();
    far.write_all(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        .await
        .unwrap();
    assert!(stream.go_ahead().await.unwrap());
    far.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    (stream, far)
}

#[tokio::test]
async fn none_is_missed_that_came_before_anybody_waited() {
    let (stream, _far) = asked().await;
    stream.keep_interim();
    for (code, fields) in [(103, 1), (100, 0), (103, 0)] {
        let head = stream.interim().await.unwrap().unwrap();
        assert_eq!((head.status().map(Status::as_u16), head.fields.len()), (Some(code), fields));
        stream.give_head(head);
    }
    assert!(stream.interim().await.unwrap().is_none());
    assert_eq!(stream.head().await.unwrap().head.status(), Some(Status::NO_CONTENT));
}

#[tokio::test]
async fn who_waits_for_the_head_alone_gets_it_and_none_is_kept() {
    let (stream, _far) = asked().await;
    assert_eq!(stream.head().await.unwrap().head.status(), Some(Status::NO_CONTENT));
    stream.keep_interim();
    let mut interim = pin!(stream.interim());
    let is_waiting = poll_fn(|cx| Poll::Ready(interim.as_mut().poll(cx).is_pending())).await;
    assert!(is_waiting);
}
