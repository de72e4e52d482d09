//! Requests in the types of the `http` crate, as hyper's server makes them: over HTTP/1.1 the target as it
//! came and `host` among the fields, over HTTP/2 a whole URI and `host` only if it came.

use std::error::Error as StdError;

use alula_fields::{KnownName, RequestForm, Status};
use alula_net::{Body, Stream, Version};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Uri, header,
    uri::{self, Authority, PathAndQuery, Scheme},
};

use crate::exchange::request::Request;

/// The most bytes of a `Uri` of the `http` crate.
const URI_BYTES_MAX: usize = u16::MAX as usize - 1;

type Cause = Box<dyn StdError + Send + Sync>;

/// The error of a request that does not fit the types of the `http` crate.
pub(super) struct Unfit {
    /// The status for the peer.
    pub(super) status: Status,
    pub(super) cause: Cause,
}

/// Converts a request to the types of the `http` crate; fails if it does not fit.
pub(super) fn to_http(request: &Request, mut body: Body) -> Result<http::Request<Body>, Unfit> {
    if request.headers().contains(KnownName::CONTENT_LENGTH) {
        Stream::note_stated(&mut body);
    }
    let mut made = http::Request::new(body);
    let method = http::Method::from_bytes(request.method().as_bytes());
    *made.method_mut() = method.map_err(|error| Unfit::new(Status::BAD_REQUEST, error))?;
    *made.uri_mut() = uri_of(request)?;
    *made.version_mut() = version_of(request);
    *made.headers_mut() = headers_of(request).map_err(Unfit::fields)?;
    Ok(made)
}

fn version_of(request: &Request) -> http::Version {
    match request.version() {
        Version::Http1 if request.form().contains(RequestForm::HTTP_10) => http::Version::HTTP_10,
        Version::Http1 => http::Version::HTTP_11,
        Version::Http2 => http::Version::HTTP_2,
    }
}

fn uri_of(request: &Request) -> Result<Uri, Unfit> {
    let uri = match request.version() {
        Version::Http1 => target(request),
        Version::Http2 => whole_uri(request),
    };
    uri.map_err(|error| {
        let is_long = request.path().len() > URI_BYTES_MAX;
        Unfit::new(if is_long { Status::URI_TOO_LONG } else { Status::BAD_REQUEST }, error)
    })
}

/// Returns the target of HTTP/1 as it came, in one allocation, or two if it names an authority.
fn target(request: &Request) -> Result<Uri, http::Error> {
    let (path, authority) = (request.path(), request.authority().unwrap_or_default());
    let text = match request.scheme() {
        None => authority.to_owned(),
        Some(scheme) if request.form().contains(RequestForm::ABSOLUTE) => {
            // The asterisk stands for the server as a whole and is no part of its URI (RFC 9112 §3.2.4).
            [scheme, "://", authority, if path == "*" { "" } else { path }].concat()
        }
        Some(_) => path.to_owned(),
    };
    Ok(Uri::from_maybe_shared(Bytes::from(text))?)
}

/// Returns the URI of HTTP/2, whose parts share one allocation; without `:authority` the path alone.
fn whole_uri(request: &Request) -> Result<Uri, http::Error> {
    let (path, authority) = (request.path(), request.own_authority().unwrap_or_default());
    let mut text = Vec::with_capacity(authority.len() + path.len());
    text.extend_from_slice(authority.as_bytes());
    text.extend_from_slice(path.as_bytes());
    let text = Bytes::from(text);
    let mut parts = uri::Parts::default();
    if !authority.is_empty() {
        parts.authority = Some(Authority::from_maybe_shared(text.slice(..authority.len()))?);
        parts.scheme = request.scheme().map(scheme);
    }
    if !path.is_empty() {
        parts.path_and_query = Some(PathAndQuery::from_maybe_shared(text.slice(authority.len()..))?);
    }
    Ok(Uri::from_parts(parts)?)
}

/// Returns the scheme of a connection, which is one of two.
fn scheme(name: &str) -> Scheme {
    if name == "https" { Scheme::HTTPS } else { Scheme::HTTP }
}

fn headers_of(request: &Request) -> Result<HeaderMap, Cause> {
    let fields = request.headers();
    let mut headers = HeaderMap::try_with_capacity(fields.len() + 1)?;
    if request.form().contains(RequestForm::HOST) {
        let host = request.own_authority().unwrap_or_default();
        headers.try_append(header::HOST, HeaderValue::from_str(host)?)?;
    }
    fields.append_to(&mut headers)?;
    Ok(headers)
}

impl Unfit {
    fn new(status: Status, cause: impl Into<Cause>) -> Self {
        Self { status, cause: cause.into() }
    }

    /// Returns the error of a request with more or longer fields than a `HeaderMap` holds.
    fn fields(error: Cause) -> Self {
        Self::new(Status::REQUEST_HEADER_FIELDS_TOO_LARGE, error)
    }
}
