//! Servers that answer `GET /hello` with 13 bytes, on a runtime of one thread.

pub(crate) mod listening;
pub(crate) mod works;

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
    serve_http2(hello);
}

/// Answers together the requests that came together, as Alula does.
pub(crate) fn hyper_http1() {
    serve_http1(hello);
}

/// The handler reads the request and answers with some of it.
pub(crate) fn hyper_echo() {
    serve_http2(echo);
}

pub(crate) fn hyper_http1_echo() {
    serve_http1(echo);
}

type Answer = Result<Response<Full<Bytes>>, Infallible>;

fn serve_http2<F: Future<Output = Answer> + Send + 'static>(handler: fn(Request<Incoming>) -> F) {
    one_thread().block_on(async {
        let listener = listener().await;
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            socket.set_nodelay(true).expect("a TCP socket");
            let serve = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(serve.serve_connection(TokioIo::new(socket), service_fn(handler)));
        }
    });
}

fn serve_http1<F: Future<Output = Answer> + Send + 'static>(handler: fn(Request<Incoming>) -> F) {
    one_thread().block_on(async {
        let listener = listener().await;
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            socket.set_nodelay(true).expect("a TCP socket");
            let mut serve = http1::Builder::new();
            let connection =
                serve.pipeline_flush(true).serve_connection(TokioIo::new(socket), service_fn(handler));
            tokio::spawn(connection);
        }
    });
}

async fn hello(_: Request<Incoming>) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from_static(HELLO.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// Answers with the path of the request, and with its request id if it has one.
async fn echo(request: Request<Incoming>) -> Answer {
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(path.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    if let Some(id) = request.headers().get("x-request-id") {
        response.headers_mut().insert("x-request-id", id.clone());
    }
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
