//! Servers that answer `GET /hello` with 13 octets, on a runtime of one thread.

use std::convert::Infallible;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use crate::measure::{end_with_input, one_thread};

const HELLO: &str = "Hello, World!";

pub(crate) fn hyper() {
    one_thread().block_on(async {
        let listener = listener().await;
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            socket.set_nodelay(true).expect("a TCP socket");
            let service = service_fn(hello);
            let serve = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(serve.serve_connection(TokioIo::new(socket), service));
        }
    });
}

/// What came together is answered together, as Alula does it.
pub(crate) fn hyper_http1() {
    one_thread().block_on(async {
        let listener = listener().await;
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            socket.set_nodelay(true).expect("a TCP socket");
            let mut serve = http1::Builder::new();
            let connection =
                serve.pipeline_flush(true).serve_connection(TokioIo::new(socket), service_fn(hello));
            tokio::spawn(connection);
        }
    });
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(HELLO.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

pub(crate) fn axum() {
    one_thread().block_on(async {
        let app = Router::new().route("/hello", get(async || HELLO));
        axum::serve(listener().await, app).await.expect("it serves");
    });
}

/// Bound, and told of on the standard output.
async fn listener() -> TcpListener {
    end_with_input();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    listener
}
