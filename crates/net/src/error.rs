//! Why a request or a connection failed: the phase, who broke which rule, and whether sending again is safe.

use std::{fmt, io, sync::Arc};

use alula_fields::{FieldError, Status};
use alula_h1 as h1;
use alula_h2::{ConnectionError, ErrorCode, Origin, Reset, SendError, Violation};

use crate::{
    fault::{Attempt, write_tried},
    overrun::Overrun,
};

/// A failed request, response or connection.
///
/// Cloning allocates nothing. `Display` gives one sentence that names the phase, the rule and whether the
/// request may be sent again.
#[derive(Clone, Debug)]
pub struct Error {
    phase: Phase,
    cause: Cause,
    retry: Retry,
    tried: Option<Arc<[Attempt]>>,
    sent: u64,
}

/// What was being done when it failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// Checking what the caller asked for; nothing was sent.
    Build,
    /// Waiting until a connection is free or may be opened.
    Queue,
    /// Looking up the addresses of the host.
    Resolve,
    /// Opening the connection.
    Connect,
    /// Asking the proxy for a way to the origin.
    Proxy,
    /// The TLS handshake.
    Handshake,
    /// Sending the head or the content of a message.
    Send,
    /// Waiting for the head of the message from the peer.
    Head,
    /// Reading the content of the message from the peer.
    Content,
}

/// Whether the same request may be sent again without being carried out twice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retry {
    /// The peer cannot have acted on the request.
    Safe,
    /// The peer may have acted on the request: send again only what is idempotent (RFC 9110 §9.2.2).
    IfIdempotent,
    /// Sending the same again would fail the same way.
    Pointless,
}

/// What went wrong, and whose fault it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The caller asked for something that cannot be sent; the text names the rule.
    Usage(&'static str),
    /// A field the caller gave is not valid.
    Field(FieldError),
    /// HTTP does not allow what the caller asked for; nothing was sent.
    Refused(Refusal),
    /// The operating system refused or the connection broke.
    Io(io::ErrorKind, Option<i32>),
    /// What the content was copied to failed; the connection is well.
    Sink(io::ErrorKind, Option<i32>),
    /// The TLS handshake or a TLS record failed.
    #[cfg(feature = "tls")]
    Tls(Arc<rustls::Error>),
    /// The peer did not agree by ALPN to a version of HTTP that this side speaks.
    Protocol,
    /// The peer broke a rule of the protocol on this stream.
    Peer(Violation),
    /// The connection ended: the peer broke a rule, went away or stopped answering.
    Connection(ConnectionError),
    /// The same over HTTP/1.1.
    Http1(h1::ConnectionError),
    /// The peer reset the stream (RFC 9113 §6.4).
    Reset(ErrorCode),
    /// The peer is closing the connection (RFC 9113 §6.8).
    GoAway(ErrorCode),
    /// The peer closed the connection before the message was whole.
    Closed,
    /// The peer closed a connection of HTTP/2 that had been used before, and nothing came after the request: it may have been
    /// closing when the request was sent.
    Unanswered,
    /// The peer was slower than it may be, or made us hold more than we do.
    Overrun(Overrun),
    /// A deadline passed; the phase says which.
    Deadline,
    /// The proxy refused to lead to the origin, with this status (RFC 9110 §9.3.6).
    ProxyStatus(Status),
    /// The SOCKS proxy refused; the text says why (RFC 1928 §6).
    Socks(&'static str),
    /// A redirect cannot be followed; the text says why (RFC 9110 §15.4).
    Redirect(&'static str),
    /// The content cannot be decoded (RFC 9110 §8.4), or would grow over what it may; the text says which.
    Coding(&'static str),
    /// The content is longer than this many octets, which is what the caller allows.
    TooLong(u64),
    /// The content is not what it was to be read as; the text says why.
    Unreadable(Arc<str>),
    /// The response has this status, which is not the success that was asked for (RFC 9110 §15).
    Status(Status),
    /// The request was given up on this side.
    Cancelled,
}

/// Why a message cannot be sent over the version of HTTP that the connection has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// Over HTTP/1.1.
    Http1(h1::SendError),
    /// Over HTTP/2.
    Http2(SendError),
}

impl Error {
    /// An error of this phase and cause.
    pub const fn new(phase: Phase, cause: Cause, retry: Retry) -> Self {
        Self { phase, cause, retry, tried: None, sent: 0 }
    }

    /// A mistake of the caller; nothing was sent.
    pub const fn usage(rule: &'static str) -> Self {
        Self::new(Phase::Build, Cause::Usage(rule), Retry::Pointless)
    }

    /// What was being done.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// What went wrong.
    pub const fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Whether the request may be sent again.
    pub const fn retry(&self) -> Retry {
        self.retry
    }

    /// The addresses that were tried, in order, when no connection could be opened.
    pub fn tried(&self) -> &[Attempt] {
        self.tried.as_deref().unwrap_or_default()
    }

    /// Octets of the request's content that had been handed to the connection.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// The same failure, after these addresses were tried.
    #[must_use]
    pub fn with_tried(mut self, tried: impl Into<Arc<[Attempt]>>) -> Self {
        self.tried = Some(tried.into());
        self
    }

    /// The same failure, after so many octets of content were handed on.
    #[must_use]
    pub const fn with_sent(mut self, octets: u64) -> Self {
        self.sent = octets;
        self
    }

    /// The same failure of a request that was sent before, when the peer may have acted on it: it is not known to be safe to send
    /// it again.
    #[must_use]
    pub fn after_doubtful_try(mut self) -> Self {
        if self.retry == Retry::Safe {
            self.retry = Retry::IfIdempotent;
        }
        self
    }

    /// The same failure met in another phase.
    #[must_use]
    pub fn during(mut self, phase: Phase) -> Self {
        self.phase = phase;
        self
    }

    pub(crate) fn io(phase: Phase, error: &io::Error) -> Self {
        let is_before = matches!(phase, Phase::Resolve | Phase::Connect | Phase::Proxy);
        let retry = if is_before { Retry::Safe } else { Retry::IfIdempotent };
        Self::new(phase, Cause::Io(error.kind(), error.raw_os_error()), retry)
    }

    pub(crate) fn connection(error: ConnectionError) -> Self {
        Self::new(Phase::Head, Cause::Connection(error), Retry::IfIdempotent)
    }

    /// A stream that ended before its messages were whole.
    pub(crate) fn reset(reset: &Reset) -> Self {
        let cause = match reset.origin {
            Origin::Peer => Cause::Reset(reset.code),
            Origin::GoAway => Cause::GoAway(reset.code),
            Origin::Us(violation) => Cause::Peer(violation),
        };
        let retry = if reset.unprocessed { Retry::Safe } else { Retry::IfIdempotent };
        Self::new(Phase::Head, cause, retry)
    }

    /// The peer went away because something was wrong, and did not answer what it had taken.
    pub(crate) const fn farewell(code: ErrorCode) -> Self {
        Self::new(Phase::Head, Cause::GoAway(code), Retry::IfIdempotent)
    }

    /// The peer ran into a limit; before there is a connection, nothing was received from it.
    pub(crate) const fn overrun(phase: Phase, overrun: Overrun) -> Self {
        let retry = if matches!(phase, Phase::Handshake) { Retry::Safe } else { Retry::IfIdempotent };
        Self::new(phase, Cause::Overrun(overrun), retry)
    }

    /// A command that the machine refused; nothing was sent.
    pub(crate) fn refused(refusal: impl Into<Refusal>) -> Self {
        let refusal = refusal.into();
        let (phase, retry) = match refusal.is_of_connection() {
            true => (Phase::Send, Retry::Safe),
            false => (Phase::Build, Retry::Pointless),
        };
        Self::new(phase, Cause::Refused(refusal), retry)
    }

    /// A connection of HTTP/1.1 ended. One that had been used before and closes without a word may have been closing when the
    /// request came; that it was not acted on is likely, and not certain.
    pub(crate) const fn http1(error: h1::ConnectionError) -> Self {
        Self::new(Phase::Head, Cause::Http1(error), Retry::IfIdempotent)
    }

    /// What content was copied to failed.
    pub(crate) fn sink(error: &io::Error) -> Self {
        Self::new(Phase::Content, Cause::Sink(error.kind(), error.raw_os_error()), Retry::IfIdempotent)
    }

    pub(crate) const fn closed() -> Self {
        Self::new(Phase::Head, Cause::Closed, Retry::IfIdempotent)
    }

    pub(crate) const fn unanswered() -> Self {
        Self::new(Phase::Head, Cause::Unanswered, Retry::IfIdempotent)
    }

    pub(crate) const fn deadline() -> Self {
        Self::new(Phase::Head, Cause::Deadline, Retry::IfIdempotent)
    }
}

impl Refusal {
    /// Whether another connection would not refuse.
    const fn is_of_connection(self) -> bool {
        matches!(
            self,
            Self::Http2(SendError::GoingAway | SendError::Closed | SendError::IdsExhausted)
                | Self::Http1(h1::SendError::GoingAway | h1::SendError::Closed)
        )
    }

    /// Whether as many streams are open as the peer allows.
    pub(crate) const fn is_full(self) -> bool {
        matches!(self, Self::Http2(SendError::StreamLimit))
    }

    /// Whether the same connection would not refuse a little later.
    pub(crate) const fn is_for_now(self) -> bool {
        matches!(
            self,
            Self::Http2(SendError::StreamLimit | SendError::AwaitsSettings)
                | Self::Http1(h1::SendError::Busy)
        )
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

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::new(Phase::Build, Cause::Field(error), Retry::Pointless)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.phase, self.cause)?;
        write_tried(f, self.tried())?;
        write!(f, "; {}", self.retry)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "while checking the request",
            Self::Queue => "while waiting for a connection",
            Self::Resolve => "while looking up the host",
            Self::Connect => "while connecting",
            Self::Proxy => "while asking the proxy",
            Self::Handshake => "during the TLS handshake",
            Self::Send => "while sending",
            Self::Head => "while waiting for the head of the message",
            Self::Content => "while reading the content",
        })
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "sending it again is safe",
            Self::IfIdempotent => "send it again only if it is idempotent (RFC 9110 §9.2.2)",
            Self::Pointless => "sending it again would fail the same way",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(rule) => f.write_str(rule),
            Self::Field(error) => error.fmt(f),
            Self::Refused(error) => error.fmt(f),
            Self::Io(kind, code) => write_io(f, *kind, *code),
            Self::Sink(kind, code) => {
                f.write_str("what the content is copied to failed: ")?;
                write_io(f, *kind, *code)
            }
            #[cfg(feature = "tls")]
            Self::Tls(error) => error.fmt(f),
            Self::Protocol => f.write_str(
                "the peer did not choose by ALPN (RFC 7301 §3.2) a version of HTTP that was offered",
            ),
            Self::Peer(violation) => write!(f, "the peer broke a rule: {violation}"),
            Self::Connection(error) => error.fmt(f),
            Self::Http1(error) => error.fmt(f),
            Self::Reset(code) => write!(f, "the peer reset the stream with {code} (RFC 9113 §6.4)"),
            Self::GoAway(code) => write!(f, "the peer closes the connection with {code} (RFC 9113 §6.8)"),
            Self::Closed => f.write_str("the peer closed the connection before the message was whole"),
            Self::Unanswered => f.write_str("the peer closed the connection without an answer"),
            Self::Overrun(overrun) => overrun.fmt(f),
            Self::Deadline => f.write_str("the deadline passed"),
            Self::ProxyStatus(status) => write!(f, "the proxy refused with {status} (RFC 9110 §9.3.6)"),
            Self::Socks(why) => write!(f, "the SOCKS proxy refused: {why} (RFC 1928 §6)"),
            Self::Redirect(why) => write!(f, "the redirect is not followed: {why} (RFC 9110 §15.4)"),
            Self::Coding(why) => write!(f, "the content cannot be decoded: {why} (RFC 9110 §8.4)"),
            Self::TooLong(octets_max) => write!(f, "the content is longer than {octets_max} octets"),
            Self::Status(status) => {
                let reason = status.reason().unwrap_or("with a status that has no name");
                write!(f, "the server answered {status} {reason} (RFC 9110 §15)")
            }
            Self::Unreadable(why) => write!(f, "the content is not what was expected: {why}"),
            Self::Cancelled => f.write_str("it was cancelled on this side"),
        }
    }
}

#[cfg(feature = "tls")]
impl Error {
    pub(crate) const fn no_version() -> Self {
        Self::new(Phase::Handshake, Cause::Protocol, Retry::Pointless)
    }

    pub(crate) fn tls(phase: Phase, error: rustls::Error) -> Self {
        let retry = if phase == Phase::Handshake { Retry::Pointless } else { Retry::IfIdempotent };
        Self::new(phase, Cause::Tls(Arc::new(error)), retry)
    }
}

fn write_io(f: &mut fmt::Formatter<'_>, kind: io::ErrorKind, code: Option<i32>) -> fmt::Result {
    match code {
        Some(code) => write!(f, "{kind} (os error {code})"),
        None => write!(f, "{kind}"),
    }
}
