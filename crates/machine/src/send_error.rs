//! The reasons for which a machine refuses a command.

use core::{error::Error, fmt};

use crate::stream_key::UnknownStream;

/// The reason for which a command was refused. Nothing has changed: no counter, window or table, and nothing
/// was written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SendError<R> {
    /// The connection has ended.
    Closed,
    /// The connection is going away, by either side: it takes no new requests, but another connection may.
    GoingAway,
    /// A request is in progress, and HTTP/1.1 allows one at a time; `Notice::Room` says when it is over.
    Busy,
    /// The peer allows no more open streams; `Notice::Room` says when to try again.
    StreamLimit,
    /// The connection has used up its 2^30 stream identifiers (RFC 9113 §5.1.1).
    IdsExhausted,
    /// The stream does not exist any more.
    UnknownStream,
    /// The stream was reset; `Notice::Reset` says by whom and why.
    StreamReset,
    /// This message has ended already.
    StreamEnded,
    /// Content or trailers were sent before the head.
    HeadNotSent,
    /// A second head was sent.
    HeadAlreadySent,
    /// A server sent a request, or a client a response.
    WrongRole,
    /// The peer's SETTINGS say that it does not take extended CONNECT (RFC 8441 §3).
    ConnectProtocolNotEnabled,
    /// The peer's SETTINGS have not come, which say whether it takes extended CONNECT, or a field section
    /// larger than expected; `Notice::Room` says when to try again.
    AwaitsSettings,
    /// An extended CONNECT was sent over HTTP/1.1, which switches protocols by `upgrade` (RFC 9110 §7.8).
    Protocol,
    /// The field section is larger than the peer's SETTINGS_MAX_HEADER_LIST_SIZE.
    FieldsTooLarge {
        /// The sum of name + value + 32 over all fields, pseudo-fields included.
        size: u64,
        /// The size that the peer allows.
        limit: u32,
    },
    /// The head is larger than what a connection of ours may hold (`Limits::connection_memory_bytes`).
    HeadTooLarge {
        /// The sum of name + value + 32 over all fields, pseudo-fields included.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// A value of the control data breaks this rule.
    Control(R),
    /// A field cannot be sent; with its place in the section, from 0.
    Field {
        /// The place of the field in the section, from 0.
        at: usize,
        /// The rule.
        rule: R,
    },
    /// The content does not match its `content-length`; or a length is stated for a message without content:
    /// 1xx and 204 (RFC 9110 §8.6), CONNECT, and the answer that opens its tunnel (RFC 9110 §9.3.6).
    ContentLength,
    /// A status that cannot be used here: 1xx as a final response, another as an interim one, or 101 over
    /// HTTP/2 (RFC 9113 §8.6).
    Status,
    /// Trailers were sent after content of a stated length, for which HTTP/1.1 has no place (RFC 9112
    /// §7.1.2).
    Trailers,
    /// A value outside what the setting allows, or a window made smaller (RFC 9113 §6.5.2).
    Setting,
    /// An earlier ping is still unanswered.
    PingPending,
    /// The number of values differs from that of the holes in the prepared request, or a hole for the path is
    /// not the first.
    Holes,
}

impl<R> SendError<R> {
    /// Returns true if another connection might accept the command.
    pub const fn is_of_connection(&self) -> bool {
        matches!(self, Self::GoingAway | Self::Closed | Self::IdsExhausted)
    }

    /// Returns true if the same connection might accept the command a little later.
    pub const fn is_for_now(&self) -> bool {
        matches!(self, Self::StreamLimit | Self::AwaitsSettings | Self::Busy)
    }
}

impl<R: fmt::Display> fmt::Display for SendError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection is closed",
            Self::GoingAway => "the connection takes no new requests",
            Self::Busy => "a request is under way on the connection",
            Self::StreamLimit => "the peer allows no more streams at the moment",
            Self::IdsExhausted => "the connection's stream identifiers are used up",
            Self::UnknownStream => "the stream is gone",
            Self::StreamReset => "the stream was reset",
            Self::StreamEnded => "the message has ended",
            Self::HeadNotSent => "the head of the message has not been sent",
            Self::HeadAlreadySent => "the head of the message has been sent",
            Self::WrongRole => "clients send requests, servers send responses",
            Self::ConnectProtocolNotEnabled => "the peer has not enabled extended CONNECT",
            Self::AwaitsSettings => "the peer's settings, which decide, are not here yet",
            Self::Protocol => "HTTP/1.1 has no extended CONNECT: ask with the field upgrade (RFC 9110 §7.8)",
            Self::FieldsTooLarge { size, limit } => {
                return write!(f, "the fields need {size} bytes, the peer allows {limit}");
            }
            Self::HeadTooLarge { size, limit } => {
                return write!(f, "the head needs {size} bytes, a connection may hold {limit}");
            }
            Self::Control(rule) => return write!(f, "cannot be sent: {rule}"),
            Self::Field { at, rule } => return write!(f, "field {at} cannot be sent: {rule}"),
            Self::ContentLength => "the content does not add up to content-length",
            Self::Status => "the status cannot be used here",
            Self::Trailers => "trailers cannot follow content of a stated length (RFC 9112 §7.1.2)",
            Self::Setting => "the value is not allowed for this setting",
            Self::PingPending => "a ping is still unanswered",
            Self::Holes => "the holes of the prepared request and the values given do not match",
        })
    }
}

impl<R: fmt::Debug + fmt::Display> Error for SendError<R> {}

impl<R> From<UnknownStream> for SendError<R> {
    fn from(_: UnknownStream) -> Self {
        Self::UnknownStream
    }
}
