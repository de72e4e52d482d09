//! hyper's client on bare connections: of HTTP/2 one for all requests, of HTTP/1.1 one for each in flight.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::clients::asking::{Asking, spread};
use crate::clients::request::{PATH, Requests, fields, url};
use crate::measure::{Run, one_thread};

type Body = Empty<Bytes>;

/// A connection's near end.
enum Sender {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let (runtime, requests) = (one_thread(), requests(asking, port));
    let senders = runtime.block_on(senders(asking, port));
    // Each sender goes on with its own.
    let mut senders: Vec<_> = senders.into_iter().map(|sender| (sender, requests.clone())).collect();
    Box::new(move |count| {
        runtime.block_on(spread(&mut senders, count, |(mut sender, mut requests), share| async move {
            for _ in 0..share {
                let answer = sender.send(requests.next(Body::new())).await;
                assert_eq!(answer.status(), 200);
                read(answer.into_body()).await;
            }
            (sender, requests)
        }));
    })
}

/// Over HTTP/1.1 the target is sent as it is given, and `host` as any field.
fn requests(asking: Asking, port: u16) -> Requests {
    let mut fields = fields(&REQUEST);
    if !asking.is_http1 {
        return Requests::new(&url(port), fields, asking.varies);
    }
    let host = HeaderValue::try_from(format!("127.0.0.1:{port}")).expect("a valid value");
    fields.insert(0, (HeaderName::from_static("host"), host));
    Requests::new(PATH, fields, asking.varies)
}

async fn senders(asking: Asking, port: u16) -> Vec<Sender> {
    if asking.is_http1 {
        let mut senders = Vec::new();
        for _ in 0..asking.in_flight {
            let (sender, connection) = http1::handshake(io(port).await).await.expect("a connection");
            tokio::spawn(connection);
            senders.push(Sender::Http1(sender));
        }
        return senders;
    }
    let shaken = http2::handshake(TokioExecutor::new(), io(port).await).await;
    let (sender, connection) = shaken.expect("a connection");
    tokio::spawn(connection);
    (0..asking.in_flight).map(|_| Sender::Http2(sender.clone())).collect()
}

async fn io(port: u16) -> TokioIo<TcpStream> {
    let socket = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
    socket.set_nodelay(true).expect("a TCP socket");
    TokioIo::new(socket)
}

impl Sender {
    async fn send(&mut self, request: Request<Body>) -> Response<Incoming> {
        let answer = match self {
            Self::Http1(sender) => {
                sender.ready().await.expect("an open connection");
                sender.send_request(request).await
            }
            Self::Http2(sender) => sender.send_request(request).await,
        };
        answer.expect("an answer")
    }
}

/// Reads content to its end and lets it go.
pub(crate) async fn read(mut body: Incoming) {
    while let Some(frame) = body.frame().await {
        black_box(frame.expect("whole content"));
    }
}
