//! The application of axum that both servers run, and what its handlers saw.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Router, middleware, routing};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tower::{Service, ServiceExt, util::BoxCloneSyncService};
use tower_http::services::ServeDir;

/// The last request as a handler saw it, one line for each thing.
pub(crate) type Seen = Arc<Mutex<Vec<(String, String)>>>;

/// The application as a service.
pub(crate) type Application = BoxCloneSyncService<Request, Response, Infallible>;

/// Makes the application. It serves the files in `folder`, and notes what it sees.
pub(crate) fn application(folder: &Path, seen: Seen) -> Application {
    let service = routes(folder).into_service::<Body>();
    let service = tower::service_fn(move |request: Request| {
        note(&request, &seen);
        let service = service.clone();
        async move {
            match bare(&request) {
                Some(response) => Ok(response),
                None => service.oneshot(request).await,
            }
        }
    });
    BoxCloneSyncService::new(service)
}

fn routes(folder: &Path) -> Router {
    Router::new()
        .route("/", routing::any(|| async { "root" }))
        .route("/text", routing::any(|| async { "hello" }))
        .route("/get", routing::get(|| async { "got" }))
        .route("/html", routing::get(|| async { Html("<p>") }))
        .route("/empty", routing::any(|| async {}))
        .route("/204", routing::any(|| async { StatusCode::NO_CONTENT }))
        .route("/204-content", routing::any(|| async { (StatusCode::NO_CONTENT, "none") }))
        .route("/205", routing::any(|| async { StatusCode::RESET_CONTENT }))
        .route("/304", routing::any(|| async { (StatusCode::NOT_MODIFIED, [(header::ETAG, "\"1\"")]) }))
        .route("/500", routing::any(|| async { (StatusCode::INTERNAL_SERVER_ERROR, "failed") }))
        .route("/to", routing::any(|| async { Redirect::to("/text") }))
        .route("/moved", routing::any(|| async { Redirect::permanent("/text?a=b") }))
        .route("/cookies", routing::any(cookies))
        .route(
            "/bytes",
            routing::any(|| async { [("x-bytes", HeaderValue::from_bytes(b"\xe9\xff").unwrap())] }),
        )
        .route("/close", routing::any(|| async { ([(header::CONNECTION, "close")], "last") }))
        .route(
            "/chunked",
            routing::any(|| async { ([(header::TRANSFER_ENCODING, "chunked")], pieces(2, End::Whole)) }),
        )
        .route("/101", routing::any(switching))
        .route("/large", routing::any(|| async { vec![b'x'; 300_000] }))
        .route("/pieces", routing::any(|| async { pieces(3, End::Whole) }))
        .route(
            "/pieces-length",
            routing::any(|| async { ([(header::CONTENT_LENGTH, "9")], pieces(3, End::Whole)) }),
        )
        .route(
            "/trailers",
            routing::any(|| async { ([(header::TRAILER, "x-sum")], pieces(2, End::Trailers)) }),
        )
        .route("/only-trailers", routing::any(|| async { pieces(0, End::Trailers) }))
        .route("/cut", routing::any(|| async { pieces(2, End::Error) }))
        .route("/cut-at-once", routing::any(|| async { pieces(0, End::Error) }))
        .route(
            "/cut-length",
            routing::any(|| async { ([(header::CONTENT_LENGTH, "9")], pieces(1, End::Error)) }),
        )
        .route("/panic-within", routing::any(|| async { pieces(1, End::Panic) }))
        .route("/panic", routing::any(panics))
        .route("/count", routing::any(|content: Bytes| async move { content.len().to_string() }))
        .route("/echo", routing::any(|request: Request| async { Response::new(request.into_body()) }))
        .route("/early", routing::any(|| async { (StatusCode::PAYLOAD_TOO_LARGE, "no") }))
        .route(
            "/peer",
            routing::any(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() }),
        )
        .nest_service("/files", ServeDir::new(folder))
        .layer(middleware::map_request(connect_info))
}

/// As the documentation shows: `ConnectInfo` of the address that Alula's server knows.
async fn connect_info(mut request: Request) -> Request {
    let peer = request.extensions().get::<alula::PeerAddress>().map(|peer| ConnectInfo(peer.address()));
    peer.map(|peer| request.extensions_mut().insert(peer));
    request
}

/// Answers that no router of axum makes: it states a length of what has none.
fn bare(request: &Request) -> Option<Response> {
    let mut response = Response::new(Body::empty());
    match request.uri().path() {
        "/bare" => {}
        "/bare/204" => *response.status_mut() = StatusCode::NO_CONTENT,
        "/bare/102" => *response.status_mut() = StatusCode::PROCESSING,
        "/bare/text" => *response.body_mut() = Body::from("hello"),
        "/bare/grpc" => {
            let grpc = HeaderMap::from_iter([
                (header::CONTENT_TYPE, HeaderValue::from_static("application/grpc")),
                (header::HeaderName::from_static("grpc-status"), HeaderValue::from_static("12")),
            ]);
            *response.headers_mut() = grpc;
        }
        "/bare/304" => {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("5"));
        }
        "/bare/short" => {
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("9"));
            *response.body_mut() = pieces(1, End::Whole);
        }
        _ if request.method() == http::Method::CONNECT => {}
        _ => return None,
    }
    Some(response)
}

async fn cookies() -> impl IntoResponse {
    let mut fields = HeaderMap::new();
    fields.append(header::SET_COOKIE, HeaderValue::from_static("a=b"));
    fields.append(header::SET_COOKIE, HeaderValue::from_static("c=d"));
    fields
}

async fn switching() -> impl IntoResponse {
    (StatusCode::SWITCHING_PROTOCOLS, [(header::CONNECTION, "upgrade"), (header::UPGRADE, "x")])
}

async fn panics() -> StatusCode {
    panic!("as it is asked to")
}

/// The end of a content, after its pieces.
#[derive(Clone, Copy)]
enum End {
    Whole,
    Trailers,
    Error,
    Panic,
}

/// Content of so many pieces of three bytes, whose length is not known.
fn pieces(count: usize, end: End) -> Body {
    Body::new(Pieces { left: count, end: Some(end) })
}

struct Pieces {
    left: usize,
    end: Option<End>,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"abc")))));
        }
        Poll::Ready(match self.end.take() {
            None | Some(End::Whole) => None,
            Some(End::Trailers) => {
                let name = header::HeaderName::from_static("x-sum");
                Some(Ok(Frame::trailers(HeaderMap::from_iter([(name, HeaderValue::from_static("6"))]))))
            }
            Some(End::Error) => Some(Err("the content ends here")),
            Some(End::Panic) => panic!("as the content is asked to"),
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// Notes what is seen of a request.
fn note(request: &Request, seen: &Seen) {
    let uri = request.uri();
    let mut seen = seen.lock().unwrap();
    let mut add = |what: &str, value: String| seen.push((format!("saw {what}"), value));
    add("method", request.method().to_string());
    add(
        "uri",
        format!("{uri} ({:?} {:?} {:?} {:?})", uri.scheme_str(), uri.authority(), uri.path(), uri.query()),
    );
    add("version", format!("{:?}", request.version()));
    let hint = http_body::Body::size_hint(request.body());
    add("length", format!("{:?} {}", hint.exact(), http_body::Body::is_end_stream(request.body())));
    for name in request.headers().keys() {
        let values =
            request.headers().get_all(name).iter().map(|value| value.as_bytes().escape_ascii().to_string());
        add(name.as_str(), values.collect::<Vec<_>>().join(" & "));
    }
}

/// Keeps the type of the service out of the signatures of servers.
pub(crate) async fn call<B>(
    mut application: Application,
    request: http::Request<B>,
) -> Result<Response, Infallible>
where
    B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    application.call(request.map(Body::new)).await
}
