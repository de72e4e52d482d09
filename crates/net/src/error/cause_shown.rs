//! The words for a cause, and its `Debug`: on one line, whatever text from elsewhere is in it.

use std::fmt::{self, Write as _};

use alula_fields::{EscapedDebug, OneLine, Status};
use alula_h2::ErrorCode;

use crate::error::cause::Cause;

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(OneLine(f), "{}", AsItCame(self))
    }
}

/// A cause in words, with text from elsewhere unescaped.
struct AsItCame<'a>(&'a Cause);

impl fmt::Display for AsItCame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Cause::Usage(rule) => f.write_str(rule),
            Cause::Url(sentence) => f.write_str(sentence),
            Cause::Field(error) => error.fmt(f),
            Cause::Refused(error) => error.fmt(f),
            Cause::Io(kind, _) => kind.fmt(f),
            Cause::Sink(kind, _) => write!(f, "the content could not be handed on: {kind}"),
            #[cfg(feature = "tls")]
            Cause::Tls(error) => error.fmt(f),
            Cause::Revoked => f.write_str(
                "certificate not trusted: it was revoked, or one of its issuers was (RFC 5280 §5)",
            ),
            Cause::PinMismatch => {
                f.write_str("certificate not trusted: its public key is none of those that were pinned")
            }
            Cause::Protocol => {
                f.write_str("the peer chose no version of HTTP that was offered by ALPN (RFC 7301 §3.2)")
            }
            Cause::Peer(violation) => write!(f, "the peer broke a rule: {violation}"),
            Cause::Connection(error) => error.fmt(f),
            Cause::Http1(error) => error.fmt(f),
            Cause::Reset(code) => {
                write!(f, "the peer reset the stream with {code} (RFC 9113 §6.4)")?;
                assumption_of(f, *code)
            }
            Cause::GoAway(code) => {
                write!(f, "the peer closes the connection with {code} (RFC 9113 §6.8)")?;
                assumption_of(f, *code)
            }
            Cause::Closed => f.write_str("the peer closed the connection before the message was whole"),
            Cause::ClientLeft => f.write_str("the client left before the answer was whole"),
            Cause::Unanswered => f.write_str("the peer closed the connection without an answer"),
            Cause::Overrun(overrun) => overrun.fmt(f),
            Cause::Timeout => f.write_str("the deadline passed"),
            Cause::ProxyStatus(status) => {
                write!(f, "the proxy refused with {status}")?;
                reason_of(f, *status)
            }
            Cause::Socks(why) => write!(f, "the SOCKS proxy refused: {why}"),
            Cause::Redirect(why) => write!(f, "the redirect is not followed: {why}"),
            Cause::Coding(why) => write!(f, "the content cannot be decoded: {why} (RFC 9110 §8.4)"),
            Cause::Growth(times) => {
                write!(f, "the content grows to more than {times} times its bytes by being decoded, ")?;
                f.write_str("as only attacks do (RFC 9110 §8.4)")
            }
            Cause::TooLong(bytes_max) => {
                write!(f, "the content is longer than {bytes_max} bytes: bytes_max, text_max, json_max, ")?;
                f.write_str("or content_max or decoded_max of the builder, allow more")
            }
            Cause::Status(status) => {
                write!(f, "the server answered {status}")?;
                reason_of(f, *status)
            }
            Cause::Unreadable(why) => write!(f, "the content is not what was expected: {why}"),
            Cause::MediaType(wanted) => write!(f, "the content is not of the media type {wanted}"),
            Cause::Cancelled => f.write_str("it was cancelled on this side"),
            Cause::Unfinished => f.write_str(
                "the writer of the content was dropped before the message was whole, which ended the exchange",
            ),
            Cause::RuntimeEnded => f.write_str("the tokio runtime that the connection belonged to has ended"),
            Cause::Other(error) => error.fmt(f),
        }
    }
}

/// Writes what a server probably means by a code that does not say it.
fn assumption_of(f: &mut fmt::Formatter<'_>, code: ErrorCode) -> fmt::Result {
    match code {
        ErrorCode::HTTP_1_1_REQUIRED => f.write_str(
            ": it takes this request over HTTP/1.1 alone, as Apache does where it asks for a client certificate",
        ),
        _ => Ok(()),
    }
}

fn reason_of(f: &mut fmt::Formatter<'_>, status: Status) -> fmt::Result {
    status.reason().map_or(Ok(()), |reason| write!(f, " {reason}"))
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut one = |name, field: &dyn fmt::Debug| f.debug_tuple(name).field(field).finish();
        match self {
            Self::Usage(it) => one("Usage", it),
            Self::Url(it) => one("Url", it),
            Self::Field(it) => one("Field", it),
            Self::Refused(it) => one("Refused", it),
            Self::Peer(it) => one("Peer", it),
            Self::Connection(it) => one("Connection", it),
            Self::Http1(it) => one("Http1", it),
            Self::Reset(it) => one("Reset", it),
            Self::GoAway(it) => one("GoAway", it),
            Self::Overrun(it) => one("Overrun", it),
            Self::ProxyStatus(it) => one("ProxyStatus", it),
            Self::Socks(it) => one("Socks", it),
            Self::Redirect(it) => one("Redirect", it),
            Self::Coding(it) => one("Coding", it),
            Self::Growth(it) => one("Growth", it),
            Self::TooLong(it) => one("TooLong", it),
            Self::Unreadable(it) => one("Unreadable", it),
            Self::MediaType(it) => one("MediaType", it),
            Self::Status(it) => one("Status", it),
            #[cfg(feature = "tls")]
            Self::Tls(error) => one("Tls", error),
            // The only one that is not ours, and may be shown as it likes.
            Self::Other(error) => one("Other", &EscapedDebug(error)),
            Self::Io(kind, code) => f.debug_tuple("Io").field(kind).field(code).finish(),
            Self::Sink(kind, code) => f.debug_tuple("Sink").field(kind).field(code).finish(),
            Self::Revoked => f.write_str("Revoked"),
            Self::PinMismatch => f.write_str("PinMismatch"),
            Self::Protocol => f.write_str("Protocol"),
            Self::Closed => f.write_str("Closed"),
            Self::ClientLeft => f.write_str("ClientLeft"),
            Self::Unanswered => f.write_str("Unanswered"),
            Self::Timeout => f.write_str("Timeout"),
            Self::Cancelled => f.write_str("Cancelled"),
            Self::Unfinished => f.write_str("Unfinished"),
            Self::RuntimeEnded => f.write_str("RuntimeEnded"),
        }
    }
}
