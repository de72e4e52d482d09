//! Services of `tower` as handlers: routers and middleware that speak the types of the `http` and `http-body`
//! crates.
//!
//! Requests are shown to services, and answers sent, as by a server of hyper (`docs/axum.md` has the
//! differences), so that what was written for one runs on the other.

mod facts;
mod request;
mod response;

use std::{error::Error as StdError, future::poll_fn};

use alula_fields::Status;
use alula_net::{Body, Error, Sent};
use http::header;
use tower_service::Service;

pub use facts::{AllowSlowPeer, PeerAddress};

use crate::{
    answer::Answer,
    connection::handler::Handler,
    exchange::{Exchange, responder::Responder},
};
use request::Unfit;
use response::Asked;

/// The error type of services and contents.
type BoxError = Box<dyn StdError + Send + Sync>;

/// Creates a handler from a service, such as a router, which is cloned for each request.
///
/// The service sees what it would see on a server of hyper: over HTTP/1.1 the target as it came and `host`
/// among the fields, over HTTP/2 an absolute URI. [`PeerAddress`] and, over TLS, `TlsFacts` are among the
/// extensions; `docs/axum.md` has the three lines that make axum's `ConnectInfo` of them. A request that the
/// types of the `http` crate do not take is refused: 431 for fields, 414 or 400 for a target.
///
/// Over HTTP/2 the services of one connection take turns in its task. Where one computes or blocks for long,
/// give each request a task of its own: `from_tower(router).spawned()`, with [`Handler`] in scope.
///
/// A service that fails, or whose content does before the head was sent, is answered for with 500; later the
/// stream is reset. Its error is reported to [`on_error`](crate::ServerBuilder::on_error).
///
/// From when its answer of 2xx has begun, a service lets its peer be as slow as it likes if the answer is of
/// gRPC (`content-type: application/grpc`), opens a tunnel (CONNECT) or has [`AllowSlowPeer`] among its
/// extensions; before that, and for other answers, `Limits::stall_timeout` and `Limits::body_rate_min` hold.
/// No field of a request lifts a limit.
///
/// Left out of an answer are the fields that are about the connection over HTTP/2, which has none of them
/// (RFC 9113 §8.2.2), `transfer-encoding: chunked`, and a `content-length` that says nothing: of 204, of 304
/// without content, of the answer that opens a tunnel.
///
/// It costs what Alula does without: for each request one or two allocations for its URI, two for the map of
/// its fields, one for each value and each name that is not well known, three for its extensions, over TLS
/// two more, and what [`Body`] says for each piece of content that is read, beside what the service itself
/// allocates. `crates/alula/tests/alloc/adapters.rs` holds the sum.
///
/// ```no_run
/// # use std::{convert::Infallible, task::{Context, Poll}};
/// # #[derive(Clone)]
/// # struct Hello;
/// # impl tower_service::Service<http::Request<alula::Body>> for Hello {
/// #     type Response = http::Response<String>;
/// #     type Error = Infallible;
/// #     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> { Poll::Ready(Ok(())) }
/// #     fn call(&mut self, _: http::Request<alula::Body>) -> Self::Future {
/// #         std::future::ready(Ok(http::Response::new("Hello, World!".into())))
/// #     }
/// # }
/// # async fn main_() -> std::io::Result<()> {
/// let server = alula::Server::bind("127.0.0.1:8080").await?;
/// // `Hello` is a service; a router of axum is one as well.
/// server.serve(alula::from_tower(Hello)).await
/// # }
/// ```
pub fn from_tower<S, B>(service: S) -> impl Handler
where
    S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    move |exchange| answer(service.clone(), exchange)
}

async fn answer<S, B>(service: S, exchange: Exchange) -> Result<Sent, Answer>
where
    S: Service<http::Request<Body>, Response = http::Response<B>, Error: Into<BoxError>>,
    B: http_body::Body<Error: Into<BoxError>>,
{
    serve(service, exchange).await.map_err(bare)
}

/// Returns a 500 without content, as a server of hyper does.
#[cold]
fn bare(error: Error) -> Answer {
    Answer::new(Status::INTERNAL_SERVER_ERROR).content("").because(error)
}

async fn serve<S, B>(mut service: S, exchange: Exchange) -> Result<Sent, Error>
where
    S: Service<http::Request<Body>, Response = http::Response<B>, Error: Into<BoxError>>,
    B: http_body::Body<Error: Into<BoxError>>,
{
    let (asked, made, responder) = take_apart(exchange);
    let request = match made {
        Ok(request) => request,
        Err(unfit) => return refuse(responder, unfit).await,
    };
    // A responder that is dropped unanswered answers 500.
    poll_fn(|cx| service.poll_ready(cx)).await.map_err(Error::other)?;
    let response = service.call(request).await.map_err(Error::other)?;
    if asked.is_connect || is_long_lived(&response) {
        responder.allow_slow_peer();
    }
    response::send(response, responder, asked).await
}

type Made = Result<http::Request<Body>, Unfit>;

/// Converts the request to that of the service, and returns it with the right to answer.
fn take_apart(exchange: Exchange) -> (Asked, Made, Responder) {
    let (request, body, responder) = exchange.split();
    let asked = Asked::by(&request);
    let mut made = request::to_http(&request, body);
    if let Ok(made) = &mut made {
        let extensions = made.extensions_mut();
        extensions.insert(PeerAddress::new(responder.peer()));
        #[cfg(feature = "tls")]
        responder.tls().map(|facts| extensions.insert(facts));
    }
    responder.take_back(request);
    (asked, made, responder)
}

/// Answers a request that cannot be converted.
async fn refuse(responder: Responder, unfit: Unfit) -> Result<Sent, Error> {
    responder.respond(unfit.status).send(b"").await?;
    Err(Error::other(unfit.cause))
}

/// Returns true if the response exempts the peer from the limits on slow peers.
fn is_long_lived<B>(response: &http::Response<B>) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let is_grpc = match media_type.strip_prefix(b"application/grpc") {
        Some(rest) => matches!(rest.first(), None | Some(b'+' | b';' | b' ')),
        None => false,
    };
    is_grpc || response.extensions().get::<AllowSlowPeer>().is_some()
}
