//! Responses of services, sent as hyper's server sends them.
//!
//! Rule: where content ends is said by whoever frames it. A `content-length` of the service goes out only
//! where it says something about content that is there, or would be if the request were not HEAD (RFC 9110
//! §8.6).

use std::{future::poll_fn, pin::Pin, pin::pin};

use alula_fields::{Decimal, FieldSection, KnownName, Status};
use alula_net::{BodyWriter, Error, Sent, Version};
use bytes::Buf;
use http::{HeaderName, HeaderValue, header};
use http_body::{Body as HttpBody, Frame};

use super::BoxError;
use crate::exchange::{reply::Reply, request::Request, responder::Responder};

/// The length up to which content is sent with its head, if it comes in one piece.
const SHORT_MAX: u64 = 64 * 1024;

/// The facts of the request that the answer depends on.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) version: Version,
    pub(super) is_head: bool,
    pub(super) is_connect: bool,
}

/// The part of an answer after its head.
#[derive(Clone, Copy, Eq, PartialEq)]
enum After {
    /// No content, even if the service returned some: 204 and 304 have none (RFC 9110 §6.4.1).
    NeverAny(Status),
    /// Content whose length is stated and that is not sent, because the request is HEAD (RFC 9110 §9.3.2).
    Stated,
    /// Empty content, because the service returned none.
    Empty,
    /// The bytes of a tunnel (RFC 9110 §9.3.6).
    Tunnel,
    Content,
}

impl Asked {
    pub(super) fn by(request: &Request) -> Self {
        let (version, method) = (request.version(), request.method());
        Self { version, is_head: method == "HEAD", is_connect: method == "CONNECT" }
    }

    fn after(self, status: Status, is_empty: bool) -> After {
        match status.as_u16() {
            // A 2xx to CONNECT begins a tunnel and has no content (RFC 9110 §9.3.6).
            _ if self.is_connect && status.is_success() => After::Tunnel,
            204 | 304 => After::NeverAny(status),
            _ if self.is_head => After::Stated,
            _ if is_empty => After::Empty,
            _ => After::Content,
        }
    }

    /// Returns true if a field of the service is sent.
    fn sends(self, after: After, name: &HeaderName, value: &HeaderValue) -> bool {
        match *name {
            header::CONTENT_LENGTH => self.sends_length(after, value.as_bytes()),
            // Content is chunked where that is needed, and not twice.
            header::TRANSFER_ENCODING if self.version == Version::Http1 => {
                !value.as_bytes().eq_ignore_ascii_case(b"chunked")
            }
            // HTTP/2 has no fields of the connection: with them a message is malformed (RFC 9113 §8.2.2).
            _ => self.version == Version::Http1 || !is_of_connection(name),
        }
    }

    /// Returns true if a length of the service is sent: routers state zero wherever they have no content,
    /// which 204 must not have and which would be wrong for 304.
    fn sends_length(self, after: After, digits: &[u8]) -> bool {
        match after {
            After::NeverAny(Status::NOT_MODIFIED) => {
                (self.is_head || self.version == Version::Http2) && digits != b"0"
            }
            After::NeverAny(_) | After::Tunnel => false,
            // Over HTTP/1.1 it is stated in any case.
            After::Empty => self.version == Version::Http2 && digits == b"0",
            After::Stated | After::Content => true,
        }
    }
}

/// Sends an answer; the stream is reset if its content fails.
pub(super) async fn send<B>(
    response: http::Response<B>,
    responder: Responder,
    asked: Asked,
) -> Result<Sent, Error>
where
    B: HttpBody<Error: Into<BoxError>>,
{
    let (parts, body) = response.into_parts();
    let status = Status::from(parts.status);
    let after = asked.after(status, body.is_end_stream());
    let mut reply = responder.respond(status);
    for (name, value) in &parts.headers {
        if asked.sends(after, name, value) {
            reply = reply.header(name.as_str(), value);
        }
    }
    let length = body.size_hint().exact();
    match after {
        After::NeverAny(_) | After::Empty => reply.send_head(),
        After::Stated if body.is_end_stream() => reply.send_head(),
        After::Stated => stating(reply, length).send_head(),
        After::Tunnel if body.is_end_stream() => reply.send_head(),
        After::Tunnel => stream(reply, None, pin!(body), asked).await,
        After::Content => content(reply, length, pin!(body), asked).await,
    }
}

/// Sends content in one piece with the head if it is short, otherwise as it comes.
async fn content<B>(
    reply: Reply,
    length: Option<u64>,
    mut body: Pin<&mut B>,
    asked: Asked,
) -> Result<Sent, Error>
where
    B: HttpBody<Error: Into<BoxError>>,
{
    let Some(bytes) = length.filter(|bytes| *bytes <= SHORT_MAX) else {
        return stream(stating(reply, length), None, body, asked).await;
    };
    let first = next(body.as_mut()).await?;
    match first.map(Frame::into_data) {
        Some(Ok(data)) if data.chunk().len() as u64 == bytes && body.is_end_stream() => {
            reply.send(data.chunk()).await
        }
        Some(Ok(data)) => stream(stating(reply, length), Some(Frame::data(data)), body, asked).await,
        // Trailers alone, which a length of zero would keep from going out over HTTP/1.1.
        Some(Err(frame)) => stream(reply, Some(frame), body, asked).await,
        None => reply.send_head(),
    }
}

/// States the length of the content, if it is known and the service has not.
fn stating(mut reply: Reply, length: Option<u64>) -> Reply {
    match length.filter(|_| !reply.headers_mut().contains(KnownName::CONTENT_LENGTH)) {
        Some(bytes) => reply.header(KnownName::CONTENT_LENGTH, Decimal::of(bytes).as_bytes()),
        None => reply,
    }
}

/// Sends the content as it comes. Content that fails resets the stream.
async fn stream<B>(
    mut reply: Reply,
    first: Option<Frame<B::Data>>,
    mut body: Pin<&mut B>,
    asked: Asked,
) -> Result<Sent, Error>
where
    B: HttpBody<Error: Into<BoxError>>,
{
    // Trailers have no place after a stated length over HTTP/1.1 (RFC 9112 §7.1.2).
    let takes_trailers =
        asked.version == Version::Http2 || !reply.headers_mut().contains(KnownName::CONTENT_LENGTH);
    let mut writer = reply.stream().await?;
    let mut frame = first;
    loop {
        match frame.take().map(Frame::into_data) {
            Some(Ok(data)) => write(&mut writer, data).await?,
            Some(Err(frame)) => {
                if let (Ok(trailers), true) = (frame.into_trailers(), takes_trailers) {
                    return writer.finish_with(&FieldSection::try_from(&trailers)?).await;
                }
            }
            None => {}
        }
        // The next piece is made when there is room for it: a peer that takes nothing makes nobody hold one.
        writer.writable().await?;
        frame = next(body.as_mut()).await?;
        if frame.is_none() {
            return writer.finish().await;
        }
    }
}

async fn next<B>(mut body: Pin<&mut B>) -> Result<Option<Frame<B::Data>>, Error>
where
    B: HttpBody<Error: Into<BoxError>>,
{
    poll_fn(|cx| body.as_mut().poll_frame(cx)).await.transpose().map_err(Error::other)
}

async fn write(writer: &mut BodyWriter, mut data: impl Buf) -> Result<(), Error> {
    while data.has_remaining() {
        let piece = data.chunk();
        writer.write(piece).await?;
        let bytes = piece.len();
        data.advance(bytes);
    }
    Ok(())
}

/// Returns true if a field is about one connection, which HTTP/2 expresses otherwise (RFC 9113 §8.2.2).
fn is_of_connection(name: &HeaderName) -> bool {
    [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE].contains(name)
        || ["keep-alive", "proxy-connection"].contains(&name.as_str())
}
