//! What goes wrong, sorted by who is at fault: the peer or the network ends a connection ([`ConnectionError`]), a caller
//! asks for what cannot be sent ([`SendError`]) or names a stream that is gone ([`UnknownStream`]).

use core::fmt;

use alula_machine::UnknownStream;

use crate::violation::Violation;

/// Why a connection ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectionError {
    /// The peer broke a rule; a server has told it so, if an answer was still due.
    Peer(Violation),
    /// The peer closed the connection without a word of an answer: a request that was sent on a connection that had been
    /// used before was not acted on (RFC 9112 §9.3.1).
    Unanswered {
        /// True if the connection had answered before.
        is_reused: bool,
    },
    /// The peer closed the connection between two exchanges.
    PeerClosed,
    /// The peer was too slow.
    TimedOut(Awaited),
    /// A message was given up on this side, which leaves the rest of it unsent or unread.
    GivenUp,
    /// We closed the connection.
    Closed,
}

/// What was waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Awaited {
    /// The rest of a head that had begun.
    Head,
    /// The next request.
    Request,
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            // That may be nobody's fault.
            Self::Peer(cut @ (Violation::CUT_HEAD | Violation::CUT_CONTENT | Violation::TRUNCATED)) => {
                return cut.fmt(f);
            }
            Self::Peer(violation) => return write!(f, "the peer broke HTTP/1.1: {violation}"),
            Self::Unanswered { .. } => "the peer closed the connection without an answer",
            Self::PeerClosed => "the peer closed the connection",
            Self::TimedOut(Awaited::Head) => "the peer did not finish a head in time",
            Self::TimedOut(Awaited::Request) => "the peer sent no further request in time",
            Self::GivenUp => "a message was given up before it was whole",
            Self::Closed => "the connection was closed on this side",
        })
    }
}

impl core::error::Error for ConnectionError {}

impl From<Violation> for ConnectionError {
    fn from(violation: Violation) -> Self {
        Self::Peer(violation)
    }
}

/// Why a command was refused; it has changed nothing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SendError {
    /// The connection is closed.
    Closed,
    /// The connection takes no new requests: it closes after the one under way.
    GoingAway,
    /// A request is under way; `Notice::Idle` says when it is over.
    Busy,
    /// The stream is gone.
    UnknownStream,
    /// This message has ended.
    StreamEnded,
    /// The head of the message has not been sent.
    HeadNotSent,
    /// The head of the message has been sent.
    HeadAlreadySent,
    /// Clients send requests, servers send responses.
    WrongRole,
    /// A value of the control data breaks this rule.
    Control(Violation),
    /// An extended CONNECT: HTTP/1.1 switches protocols by `upgrade` (RFC 9110 §7.8).
    Protocol,
    /// A field cannot be sent; its place in the section, from 0.
    Field {
        /// Which field.
        at: usize,
        /// The rule.
        rule: Violation,
    },
    /// The content would be more, or end with less, than `content-length` says; or it is stated where there is no content:
    /// in 1xx and 204 (RFC 9110 §8.6), and in CONNECT and the answer that opens its tunnel (RFC 9110 §9.3.6).
    ContentLength,
    /// A status that cannot be used here: 1xx as a final response, another as an interim one.
    Status,
    /// Trailers after content of a stated length, which HTTP/1.1 has no place for (RFC 9112 §7.1.2).
    Trailers,
    /// Not as many values as a prepared request has holes, or a hole for the path that is not the first.
    Holes,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection is closed",
            Self::GoingAway => "the connection takes no new requests",
            Self::Busy => "a request is under way on the connection",
            Self::UnknownStream => "the stream is gone",
            Self::StreamEnded => "the message has ended",
            Self::HeadNotSent => "the head of the message has not been sent",
            Self::HeadAlreadySent => "the head of the message has been sent",
            Self::WrongRole => "clients send requests, servers send responses",
            Self::Control(rule) => return write!(f, "cannot be sent: {rule}"),
            Self::Protocol => "HTTP/1.1 has no extended CONNECT: ask with the field upgrade (RFC 9110 §7.8)",
            Self::Field { at, rule } => return write!(f, "field {at} cannot be sent: {rule}"),
            Self::ContentLength => "the content does not add up to content-length",
            Self::Status => "the status cannot be used here",
            Self::Trailers => "trailers cannot follow content of a stated length (RFC 9112 §7.1.2)",
            Self::Holes => "the holes of the prepared request and the values given do not match",
        })
    }
}

impl core::error::Error for SendError {}

impl From<UnknownStream> for SendError {
    fn from(_: UnknownStream) -> Self {
        Self::UnknownStream
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_error_is_a_sentence() {
        let errors = [
            ConnectionError::Peer(Violation::FOLDED).to_string(),
            ConnectionError::TimedOut(Awaited::Head).to_string(),
            SendError::Control(Violation::METHOD_INVALID).to_string(),
            SendError::Field { at: 2, rule: Violation::LENGTH_INVALID }.to_string(),
        ];
        assert_eq!(
            errors,
            [
                "the peer broke HTTP/1.1: a field line is folded (RFC 9112 §5.2)",
                "the peer did not finish a head in time",
                "cannot be sent: the method is not a token (RFC 9110 §9.1)",
                "field 2 cannot be sent: a content-length is not a number of at most 19 digits (RFC 9112 §6.3)",
            ]
        );
    }
}
