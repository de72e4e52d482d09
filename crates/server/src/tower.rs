//! Services of `tower` as handlers: routers and middleware that speak the types of the `http` and `http-body` crates.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use alula_fields::{Decimal, FieldSection, KnownName, Status};
use bytes::{Buf, Bytes};
use http::{HeaderMap, Uri, header};
use http_body::{Body as _, Frame, SizeHint};
use tower_service::Service;

use crate::{Body, BodyWriter, Error, Exchange, Handler, Reply, Request, Responder, Sent, Version};

/// Content of a length of up to so many octets goes out with its head, once it is there in one piece.
const SHORT_MAX: u64 = 64 * 1024;

/// Answers requests with a service, such as a router: it is cloned for each request.
///
/// The URI of a request is absolute where its host is known, whatever the version; `*` and the target of CONNECT are as they came.
/// A service that fails is answered for with 500. Fields that are about the connection (`connection`, `transfer-encoding` and the
/// like) are left out of answers over HTTP/2, which has none (RFC 9113 §8.2.2).
///
/// It costs what Alula does without: for each request two allocations for its URI, two for the map of its fields, one for
/// each value and each name that is not well known and one for each chunk of content that is read, beside what the service itself
/// allocates. `crates/alula/tests/adapter_allocations.rs` holds the sum.
///
/// ```no_run
/// # use std::{convert::Infallible, task::{Context, Poll}};
/// # #[derive(Clone)]
/// # struct Hello;
/// # impl tower_service::Service<http::Request<alula_server::RequestContent>> for Hello {
/// #     type Response = http::Response<String>;
/// #     type Error = Infallible;
/// #     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> { Poll::Ready(Ok(())) }
/// #     fn call(&mut self, _: http::Request<alula_server::RequestContent>) -> Self::Future {
/// #         std::future::ready(Ok(http::Response::new("Hello, World!".into())))
/// #     }
/// # }
/// # async fn main_() -> std::io::Result<()> {
/// let server = alula_server::Server::bind("127.0.0.1:8080").await?;
/// // `Hello` is a service; a router of axum is one as well.
/// server.serve(alula_server::from_tower(Hello)).await
/// # }
/// ```
pub fn from_tower<S, B>(service: S) -> impl Handler
where
    S: Service<http::Request<RequestContent>, Response = http::Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    move |exchange| answer(service.clone(), exchange)
}

async fn answer<S, B>(mut service: S, exchange: Exchange) -> Result<Sent, Error>
where
    S: Service<http::Request<RequestContent>, Response = http::Response<B>>,
    B: http_body::Body,
{
    let (request, body, responder) = exchange.split();
    let version = request.version();
    let made = to_http(&request, body);
    responder.take_back(request);
    let Ok(request) = made else {
        return responder.respond(Status::BAD_REQUEST).send(b"").await;
    };
    if poll_fn(|cx| service.poll_ready(cx)).await.is_err() {
        return responder.respond(Status::INTERNAL_SERVER_ERROR).send(b"").await;
    }
    match service.call(request).await.ok() {
        Some(response) => send(response, responder, version).await,
        None => responder.respond(Status::INTERNAL_SERVER_ERROR).send(b"").await,
    }
}

/// The content of a request, as it arrives; the trailers come with it. Each chunk is copied once, into an allocation of its own.
pub struct RequestContent {
    body: Body,
    /// What `content-length` says, until something was read.
    length: Option<u64>,
    is_done: bool,
}

impl http_body::Body for RequestContent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        if this.is_done {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_next(cx));
        this.is_done |= next.is_err();
        Poll::Ready(next.transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.is_done
    }

    fn size_hint(&self) -> SizeHint {
        match self.length {
            _ if self.is_done => SizeHint::with_exact(0),
            Some(octets) => SizeHint::with_exact(octets),
            None => SizeHint::default(),
        }
    }
}

impl RequestContent {
    fn new(body: Body, fields: &FieldSection) -> Self {
        let length = fields.get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self { is_done: body.is_ended(), body, length }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Error>> {
        // A future of these that is dropped loses nothing: each poll makes another.
        if let Some(chunk) = ready!(pin!(self.body.chunk()).poll(cx))? {
            self.length = None;
            return Poll::Ready(Ok(Some(Frame::data(Bytes::copy_from_slice(chunk)))));
        }
        let trailers = ready!(pin!(self.body.trailers()).poll(cx))?.map(HeaderMap::try_from).transpose()?;
        self.is_done = true;
        Poll::Ready(Ok(trailers.map(Frame::trailers)))
    }
}

/// The request in the types of the `http` crate. What they do not take, such as a path that is no URI, is an error.
fn to_http(request: &Request, body: Body) -> Result<http::Request<RequestContent>, http::Error> {
    let uri = uri_of(request)?;
    let headers = HeaderMap::try_from(request.fields()).unwrap_or_default();
    let content = RequestContent::new(body, request.fields());
    let mut made = http::Request::new(content);
    *made.method_mut() = http::Method::from_bytes(request.method().as_bytes())?;
    *made.uri_mut() = uri;
    *made.version_mut() = match request.version() {
        Version::Http1 => http::Version::HTTP_11,
        Version::Http2 => http::Version::HTTP_2,
    };
    *made.headers_mut() = headers;
    Ok(made)
}

/// One allocation, which the parts of the URI share.
fn uri_of(request: &Request) -> Result<Uri, http::Error> {
    let (path, authority) = (request.path(), request.authority());
    let parts = match (request.scheme(), authority) {
        (Some(scheme), Some(authority)) if path.starts_with('/') => [scheme, "://", authority, path],
        (_, Some(authority)) if path.is_empty() => [authority, "", "", ""],
        _ => [path, "", "", ""],
    };
    let mut text = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
    Ok(Uri::from_maybe_shared(Bytes::from(text))?)
}

async fn send<B: http_body::Body>(
    response: http::Response<B>,
    responder: Responder,
    version: Version,
) -> Result<Sent, Error> {
    let (parts, body) = response.into_parts();
    let mut reply = responder.respond(parts.status.into());
    for (name, value) in &parts.headers {
        if version == Version::Http1 || !is_of_connection(name) {
            reply = reply.field(name.as_str(), value);
        }
    }
    if body.is_end_stream() {
        return reply.send(b"").await;
    }
    let mut body = pin!(body);
    match body.size_hint().exact() {
        Some(octets) if octets <= SHORT_MAX => {
            let first = next(body.as_mut()).await?;
            match first.map(Frame::into_data) {
                Some(Ok(data)) if data.chunk().len() as u64 == octets && body.is_end_stream() => {
                    reply.send(data.chunk()).await
                }
                Some(Ok(data)) => stream(reply, Some(octets), Some(Frame::data(data)), body).await,
                Some(Err(frame)) => stream(reply, Some(octets), Some(frame), body).await,
                None => reply.send(b"").await,
            }
        }
        length => stream(reply, length, None, body).await,
    }
}

/// Sends the content as it comes. Content that fails resets the stream.
async fn stream<B: http_body::Body>(
    mut reply: Reply,
    length: Option<u64>,
    first: Option<Frame<B::Data>>,
    mut body: Pin<&mut B>,
) -> Result<Sent, Error> {
    if let Some(octets) = length.filter(|_| !reply.fields_mut().contains(KnownName::CONTENT_LENGTH)) {
        reply = reply.field(KnownName::CONTENT_LENGTH, Decimal::of(octets).as_bytes());
    }
    let mut writer = reply.stream().await?;
    let mut frame = first;
    loop {
        match frame.take().map(Frame::into_data) {
            Some(Ok(data)) => write(&mut writer, data).await?,
            Some(Err(frame)) => {
                if let Ok(trailers) = frame.into_trailers() {
                    return writer.finish_with(&FieldSection::try_from(&trailers)?).await;
                }
            }
            None => {}
        }
        frame = next(body.as_mut()).await?;
        if frame.is_none() {
            return writer.finish().await;
        }
    }
}

async fn next<B: http_body::Body>(mut body: Pin<&mut B>) -> Result<Option<Frame<B::Data>>, Error> {
    let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
    frame.transpose().map_err(|_| Error::usage("the content of the answer failed"))
}

async fn write(writer: &mut BodyWriter, mut data: impl Buf) -> Result<(), Error> {
    while data.has_remaining() {
        let piece = data.chunk();
        writer.write(piece).await?;
        let octets = piece.len();
        data.advance(octets);
    }
    Ok(())
}

/// Whether a field says something of one connection, which HTTP/2 says otherwise (RFC 9113 §8.2.2).
fn is_of_connection(name: &header::HeaderName) -> bool {
    [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE].contains(name)
        || ["keep-alive", "proxy-connection"].contains(&name.as_str())
}
