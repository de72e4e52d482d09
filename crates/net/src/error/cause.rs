//! The causes of a failure, and the party at fault.

use std::{fmt, io, sync::Arc};

use alula_fields::{FieldError, Status};
use alula_h1 as h1;
use alula_h2::{ConnectionError, ErrorCode, SendError, Violation};
#[cfg(feature = "tls")]
use rustls::CertificateError;

use crate::error::limit::Overrun;

/// The cause of an error, with the side at fault.
#[derive(Clone)]
#[non_exhaustive]
pub enum Cause {
    /// The request cannot be sent as the caller asked; the text names the rule.
    Usage(&'static str),
    /// The URL of the caller cannot be requested; the text shows it without secrets, and the reason.
    Url(Arc<str>),
    /// A field of the caller is not valid.
    Field(FieldError),
    /// HTTP does not allow the request; nothing was sent.
    Refused(Refusal),
    /// The operating system refused or the connection broke.
    Io(io::ErrorKind, Option<i32>),
    /// The writer that the content was copied to failed; the connection is well.
    Sink(io::ErrorKind, Option<i32>),
    /// The TLS handshake or a TLS record failed.
    #[cfg(feature = "tls")]
    Tls(Arc<rustls::Error>),
    /// The peer's certificate, or one of its issuers, is on a list of revoked certificates (RFC 5280 §5).
    Revoked,
    /// The peer's certificate is trusted, but its public key is none of those that were pinned.
    PinMismatch,
    /// The peer did not agree by ALPN on a version of HTTP that this side speaks.
    Protocol,
    /// The peer broke a rule of the protocol on this stream.
    Peer(Violation),
    /// The connection ended: the peer broke a rule, went away or stopped answering.
    Connection(ConnectionError),
    /// The connection of HTTP/1.1 ended: the peer broke a rule, went away or stopped answering.
    Http1(h1::ConnectionError),
    /// The peer reset the stream (RFC 9113 §6.4).
    Reset(ErrorCode),
    /// The peer is closing the connection (RFC 9113 §6.8).
    GoAway(ErrorCode),
    /// The peer closed the connection before the message was whole.
    Closed,
    /// The client has left: it closed its side of the connection before the answer was complete, and
    /// half-closed connections are not served (`ServerBuilder::http1_half_close`).
    ClientLeft,
    /// The peer closed a connection of HTTP/2 that had been used before, and nothing came after the request:
    /// it may have been closing when the request was sent.
    Unanswered,
    /// The peer was slower than a limit allows, or made this side hold more than a limit allows.
    Overrun(Overrun),
    /// A deadline passed; the phase names it.
    Timeout,
    /// The proxy refused to lead to the origin, with this status (RFC 9110 §9.3.6).
    ProxyStatus(Status),
    /// The SOCKS proxy refused; the text says why (RFC 1928 §6).
    Socks(&'static str),
    /// A redirect cannot be followed; the text says why (RFC 9110 §15.4).
    Redirect(&'static str),
    /// The content cannot be decoded (RFC 9110 §8.4); the text says why.
    Coding(&'static str),
    /// The content grows to more than this many times its bytes by being decoded (RFC 9110 §8.4), and to more
    /// than 1 MiB.
    Growth(u64),
    /// The content is longer than this many bytes, the limit of `content_max` in the builder or the route, of
    /// a method such as [`Body::bytes_max`](crate::Body::bytes_max), or of `decoded_max` for decoded content.
    TooLong(u64),
    /// The content is not in the expected format; the text says why.
    Unreadable(Arc<str>),
    /// The `content-type` of a request is not this media type.
    MediaType(&'static str),
    /// The response has this status, where success was required (RFC 9110 §15).
    Status(Status),
    /// The request was given up on this side.
    Cancelled,
    /// The writer of the content was dropped on this side before the message was whole, which reset the
    /// stream. The failure of that writer, if it had one, says why.
    Unfinished,
    /// The tokio runtime that the connection belonged to has ended. A response has to be read before the
    /// runtime ends on which its call was sent.
    RuntimeEnded,
    /// The program that handles requests failed, and gives the reason itself; see
    /// [`Error::other`](crate::Error::other).
    Other(Arc<dyn std::error::Error + Send + Sync>),
}

/// The reason for which a message cannot be sent over the version of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// The machine of HTTP/1.1 refused it.
    Http1(h1::SendError),
    /// The machine of HTTP/2 refused it.
    Http2(SendError),
}

impl Refusal {
    /// Returns true if another connection might accept the message.
    pub(crate) const fn is_of_connection(self) -> bool {
        match self {
            Self::Http1(error) => error.is_of_connection(),
            Self::Http2(error) => error.is_of_connection(),
        }
    }

    /// Returns true if the peer allows no more streams at present.
    pub(crate) const fn is_full(self) -> bool {
        matches!(self, Self::Http2(SendError::StreamLimit))
    }

    /// Returns true if the same connection might accept the message a little later.
    pub(crate) const fn is_for_now(self) -> bool {
        match self {
            Self::Http1(error) => error.is_for_now(),
            Self::Http2(error) => error.is_for_now(),
        }
    }
}

impl From<h1::SendError> for Refusal {
    fn from(error: h1::SendError) -> Self {
        Self::Http1(error)
    }
}

impl From<SendError> for Refusal {
    fn from(error: SendError) -> Self {
        Self::Http2(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http1(error) => error.fmt(f),
            Self::Http2(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "tls")]
impl From<rustls::Error> for Cause {
    fn from(error: rustls::Error) -> Self {
        match &error {
            rustls::Error::InvalidCertificate(CertificateError::Revoked) => Self::Revoked,
            rustls::Error::InvalidCertificate(CertificateError::Other(other))
                if other.0.is::<PinMismatch>() =>
            {
                Self::PinMismatch
            }
            _ => Self::Tls(Arc::new(error)),
        }
    }
}

/// The error of a certificate verifier when no pin matches; it becomes [`Cause::PinMismatch`].
#[cfg(feature = "tls")]
#[derive(Clone, Copy, Debug)]
pub struct PinMismatch;

#[cfg(feature = "tls")]
impl std::error::Error for PinMismatch {}

#[cfg(feature = "tls")]
impl fmt::Display for PinMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Cause::PinMismatch.fmt(f)
    }
}
