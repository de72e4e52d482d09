//! hyper as a server of [`routes`](crate::interop::routes).

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder as RuntimeBuilder;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::FIELD_SECTION_BYTES;
use crate::certificates::Certificates;
use crate::interop::routes;
use crate::peers::Origin;
use crate::site::Site;
use crate::tls;

type Content = Channel<Bytes, io::Error>;
type Pen = Sender<Bytes, io::Error>;

/// Starts it on a runtime of its own.
///
/// # Panics
/// When it cannot listen.
#[must_use]
pub fn start(certificates: &Certificates) -> Origin {
    let runtime =
        RuntimeBuilder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let bind = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let (clear, secure) = (bind(), bind());
    let port = |listener: &TcpListener| listener.local_addr().expect("it listens").port();
    let ports = (port(&clear), port(&secure));
    let released = Arc::new(Notify::new());
    runtime.spawn(accept(clear, None, Arc::clone(&released)));
    runtime.spawn(accept(secure, Some(tls::server_config(certificates).into()), released));
    Origin { name: "hyper", clear: ports.0, tls: ports.1, programs: Vec::new(), _runtime: Some(runtime) }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, released: Arc<Notify>) {
    while let Ok((socket, _)) = listener.accept().await {
        tokio::spawn(connection(socket, tls.clone(), Arc::clone(&released)));
    }
}

async fn connection(socket: TcpStream, tls: Option<TlsAcceptor>, released: Arc<Notify>) {
    socket.set_nodelay(true).expect("it takes the option");
    match tls {
        None => serve(socket, released).await,
        // A client that does not get through the handshake will say so.
        Some(tls) => {
            if let Ok(socket) = tls.accept(socket).await {
                serve(socket, released).await;
            }
        }
    }
}

/// Serves a connection until it ends, or takes its leave when a request says so.
async fn serve(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, released: Arc<Notify>) {
    let leave = Arc::new(Notify::new());
    let told_to_leave = Arc::clone(&leave);
    let service = service_fn(move |request| answer(request, Arc::clone(&released), Arc::clone(&leave)));
    let mut builder = Builder::new(TokioExecutor::new());
    builder.max_header_list_size(FIELD_SECTION_BYTES);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(socket), service));
    // How a connection ends is what the client is asked about.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = told_to_leave.notified() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    released: Arc<Notify>,
    leave: Arc<Notify>,
) -> Result<Response<Content>, Infallible> {
    let (head, body) = request.into_parts();
    let number = |name| parameter(head.uri.query(), name);
    let (pen, content) = Channel::new(1);
    let mut response = Response::new(content);
    match head.uri.path() {
        "/small.txt" => send(pen, Site::content(Site::SMALL)),
        "/empty.txt" => send(pen, Vec::new()),
        "/big" => send(pen, routes::alphabet(number("n="))),
        "/echo" => drop(tokio::spawn(echo(body, pen))),
        "/trailers" => drop(tokio::spawn(trailers(pen))),
        "/sent-trailers" => send(pen, sent_trailers(body).await),
        "/reset" => drop(tokio::spawn(reset(pen))),
        "/wait" => drop(tokio::spawn(wait(pen, released))),
        "/release" => {
            released.notify_one();
            send(pen, routes::RELEASED.into());
        }
        "/goaway" => {
            leave.notify_one();
            send(pen, routes::LAST.into());
        }
        "/fields" => {
            add_fields(response.headers_mut(), number("n="), number("size="));
            send(pen, sent_fields(&head.headers).into());
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    Ok(response)
}

fn parameter(query: Option<&str>, name: &str) -> usize {
    let value = query.unwrap_or_default().split('&').find_map(|part| part.strip_prefix(name));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn send(mut pen: Pen, content: Vec<u8>) {
    tokio::spawn(async move {
        // A client that gives up is part of what is tested.
        let _ = pen.send_data(content.into()).await;
    });
}

async fn echo(mut body: Incoming, mut pen: Pen) {
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { return };
        if pen.send_data(data).await.is_err() {
            return;
        }
    }
}

async fn trailers(mut pen: Pen) {
    let fields = routes::TRAILERS
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let _ = pen.send_data(routes::TRAILED.into()).await;
    let _ = pen.send_trailers(HeaderMap::from_iter(fields)).await;
}

async fn sent_trailers(body: Incoming) -> Vec<u8> {
    let received = body.collect().await.ok().and_then(|whole| whole.trailers().cloned()).unwrap_or_default();
    let value = |name| received.get(name).map_or(&b""[..], HeaderValue::as_bytes);
    routes::TRAILERS
        .iter()
        .flat_map(|(name, _)| [name.as_bytes(), b": ", value(*name), b"\n"].concat())
        .collect()
}

async fn reset(mut pen: Pen) {
    let _ = pen.send_data(routes::HALF.into()).await;
    pen.abort(io::Error::other("half of it is all there is"));
}

async fn wait(mut pen: Pen, released: Arc<Notify>) {
    let (first, rest) = routes::HELD.split_at(5);
    let _ = pen.send_data(first.into()).await;
    released.notified().await;
    let _ = pen.send_data(rest.into()).await;
}

fn add_fields(headers: &mut HeaderMap, count: usize, bytes: usize) {
    for field in 0..count {
        let name = HeaderName::try_from(format!("x-field-{field}")).expect("a valid name");
        headers.insert(name, HeaderValue::try_from("v".repeat(bytes)).expect("a valid value"));
    }
}

fn sent_fields(headers: &HeaderMap) -> String {
    let sent = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-sent-"));
    let (count, bytes) = sent.fold((0, 0), |(count, bytes), (_, value)| (count + 1, bytes + value.len()));
    let mut text = String::new();
    writeln!(text, "{count} fields, {bytes} bytes").expect("a String takes any text");
    text
}
