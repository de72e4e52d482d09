//! h2's client without hyper, on one connection.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use tokio::net::TcpStream;

use crate::clients::asking::{Asking, spread};
use crate::clients::request::{Requests, fields, url};
use crate::measure::{Run, one_thread};

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let runtime = one_thread();
    let requests = Requests::new(&url(port), fields(&REQUEST), asking.varies);
    let sender = runtime.block_on(async {
        let socket = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
        socket.set_nodelay(true).expect("a TCP socket");
        let (sender, connection) = h2::client::handshake(socket).await.expect("a connection");
        tokio::spawn(connection);
        sender
    });
    let mut senders = vec![(sender, requests); asking.in_flight as usize];
    Box::new(move |count| {
        runtime.block_on(spread(&mut senders, count, |(mut sender, mut requests), share| async move {
            for _ in 0..share {
                sender = sender.ready().await.expect("an open connection");
                let (answer, _) = sender.send_request(requests.next(()), true).expect("a valid request");
                let answer = answer.await.expect("an answer");
                assert_eq!(answer.status(), 200);
                read(answer.into_body()).await;
            }
            (sender, requests)
        }));
    })
}

async fn read(mut body: h2::RecvStream) {
    while let Some(chunk) = body.data().await {
        let chunk = black_box(chunk.expect("whole content"));
        body.flow_control().release_capacity(chunk.len()).expect("it was received");
    }
}
