//! h2's client without hyper, on one connection.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use http::Uri;
use tokio::net::TcpStream;

use crate::asking::{Asking, spread};
use crate::measure::{Run, one_thread};
use crate::request::{fields, get, url};

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let (runtime, fields) = (one_thread(), fields(&REQUEST));
    let uri: Uri = url(port).parse().expect("a valid URI");
    let sender = runtime.block_on(async {
        let socket = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
        socket.set_nodelay(true).expect("a TCP socket");
        let (sender, connection) = h2::client::handshake(socket).await.expect("a connection");
        tokio::spawn(connection);
        sender
    });
    let mut senders = vec![sender; asking.in_flight as usize];
    Box::new(move |count| {
        runtime.block_on(spread(&mut senders, count, |mut sender, share| {
            let (uri, fields) = (uri.clone(), fields.clone());
            async move {
                for _ in 0..share {
                    sender = sender.ready().await.expect("an open connection");
                    let request = get(&uri, &fields, ());
                    let (answer, _) = sender.send_request(request, true).expect("a valid request");
                    let answer = answer.await.expect("an answer");
                    assert_eq!(answer.status(), 200);
                    read(answer.into_body()).await;
                }
                sender
            }
        }));
    })
}

async fn read(mut body: h2::RecvStream) {
    while let Some(chunk) = body.data().await {
        let chunk = black_box(chunk.expect("whole content"));
        body.flow_control().release_capacity(chunk.len()).expect("it was received");
    }
}
