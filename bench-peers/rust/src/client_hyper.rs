//! hyper's client, one request at a time on one connection.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use bytes::Bytes;
use http::Uri;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::measure::{Run, one_thread};
use crate::request::{fields, get, url};

pub(crate) fn run(port: u16) -> Run {
    let (runtime, fields) = (one_thread(), fields(&REQUEST));
    let uri: Uri = url(port).parse().expect("a valid URI");
    let mut sender = runtime.block_on(async {
        let socket = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
        socket.set_nodelay(true).expect("a TCP socket");
        let io = TokioIo::new(socket);
        let shaken = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await;
        let (sender, connection) = shaken.expect("a connection");
        tokio::spawn(connection);
        sender
    });
    Box::new(move |count| {
        runtime.block_on(async {
            for _ in 0..count {
                let request = get(&uri, &fields, Empty::<Bytes>::new());
                let answer = sender.send_request(request).await.expect("an answer");
                assert_eq!(answer.status(), 200);
                read(answer.into_body()).await;
            }
        });
    })
}

async fn read(mut body: Incoming) {
    while let Some(frame) = body.frame().await {
        black_box(frame.expect("whole content"));
    }
}
