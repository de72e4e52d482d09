//! What goes wrong, sorted by who is at fault: the peer or the network ends a connection ([`ConnectionError`]), a caller
//! asks for what cannot be sent ([`SendError`]) or names a stream that is gone ([`UnknownStream`]).

use core::fmt;

use alula_machine::UnknownStream;

use crate::error_code::ErrorCode;
use crate::violation::Violation;

/// Why a connection ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectionError {
    /// The peer broke a rule; it is told so with GOAWAY.
    Peer(Violation),
    /// The peer broke a rule of field compression (RFC 7541); it is told COMPRESSION_ERROR.
    Compression {
        /// The rule in words, ending in its section of RFC 7541.
        rule: &'static str,
    },
    /// The peer closed the connection with GOAWAY and this code.
    GoAway {
        /// The reason it gave.
        code: ErrorCode,
        /// The highest stream it may have acted on; requests above it are safe to send again.
        last: u32,
    },
    /// The peer did not answer in time.
    TimedOut(Awaited),
    /// We closed it.
    Local {
        /// What the peer was told.
        code: ErrorCode,
    },
}

/// What a peer did not send in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Awaited {
    /// Its first SETTINGS.
    Preface,
    /// The acknowledgment of our SETTINGS.
    SettingsAck,
    /// The rest of a field block, or of a frame other than DATA, that it had begun.
    Head,
    /// The answer to a keep-alive PING.
    Pong,
}

impl ConnectionError {
    /// What the peer was told, or told us.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Peer(violation) => violation.code,
            Self::Compression { .. } => ErrorCode::COMPRESSION_ERROR,
            Self::GoAway { code, .. } | Self::Local { code } => *code,
            Self::TimedOut(Awaited::SettingsAck) => ErrorCode::SETTINGS_TIMEOUT,
            Self::TimedOut(Awaited::Head) => ErrorCode::ENHANCE_YOUR_CALM,
            Self::TimedOut(Awaited::Preface | Awaited::Pong) => ErrorCode::NO_ERROR,
        }
    }
}

impl From<Violation> for ConnectionError {
    fn from(violation: Violation) -> Self {
        Self::Peer(violation)
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(violation) => write!(f, "the peer broke HTTP/2: {violation}"),
            Self::Compression { rule } => write!(f, "the peer broke field compression: {rule}"),
            Self::GoAway { code, last } => write!(f, "the peer went away with {code} after stream {last}"),
            Self::TimedOut(Awaited::Preface) => f.write_str("the peer did not send its settings in time"),
            Self::TimedOut(Awaited::SettingsAck) => {
                f.write_str("the peer did not acknowledge our settings in time")
            }
            Self::TimedOut(Awaited::Head) => {
                f.write_str("the peer did not end in time what it had begun to say")
            }
            Self::TimedOut(Awaited::Pong) => f.write_str("the peer did not answer a ping in time"),
            Self::Local { code } => write!(f, "we closed the connection with {code}"),
        }
    }
}

impl core::error::Error for ConnectionError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Peer(violation) => Some(violation),
            Self::Compression { .. } | Self::GoAway { .. } | Self::TimedOut(_) | Self::Local { .. } => None,
        }
    }
}

/// Why a command was refused. Nothing has changed: no counter, window or table, and nothing was written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SendError {
    /// The connection has ended.
    Closed,
    /// One of the two ends goes away: no new requests here, but another connection may take them.
    GoingAway,
    /// As many streams are open as the peer allows; `Notice::StreamSlots` says when to try again.
    StreamLimit,
    /// All 2^30 stream identifiers of this connection are used up (RFC 9113 §5.1.1).
    IdsExhausted,
    /// The stream is not known any more.
    UnknownStream,
    /// The stream was reset; `Notice::Reset` says by whom and why.
    StreamReset,
    /// This half of the stream has ended already.
    StreamEnded,
    /// DATA or trailers before the head.
    HeadNotSent,
    /// A second head.
    HeadAlreadySent,
    /// A request from a server, or a response from a client.
    WrongRole,
    /// The peer's SETTINGS say that it does not take extended CONNECT (RFC 8441 §3).
    ConnectProtocolNotEnabled,
    /// Whether the peer takes extended CONNECT is not known before its SETTINGS are here; `Notice::StreamSlots` says when to
    /// try again.
    AwaitsSettings,
    /// The field section is larger than the peer's SETTINGS_MAX_HEADER_LIST_SIZE.
    FieldsTooLarge {
        /// The sum of name + value + 32 over all fields, pseudo-fields included.
        size: u64,
        /// What the peer allows.
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
    Control(Violation),
    /// A field must not be sent over HTTP/2; its place in the section, from 0.
    Field {
        /// Which field.
        at: usize,
        /// The rule.
        rule: Violation,
    },
    /// DATA would be more, or end with less, than `content-length` says; or it is stated where there is no content: in 1xx
    /// and 204 (RFC 9110 §8.6).
    ContentLength,
    /// A status that cannot be used here: 1xx as a final response, another as an interim one, or 101 (RFC 9113 §8.6).
    Status,
    /// A value outside what the setting allows, or a window made smaller (RFC 9113 §6.5.2).
    Setting,
    /// A ping of ours is still unanswered.
    PingPending,
    /// Not as many values as a prepared request has holes, or a hole for the path that is not the first.
    Holes,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Closed => "the connection is closed",
            Self::GoingAway => "the connection takes no new requests",
            Self::StreamLimit => "the peer allows no more streams at the moment",
            Self::IdsExhausted => "the connection's stream identifiers are used up",
            Self::UnknownStream => "the stream is gone",
            Self::StreamReset => "the stream was reset",
            Self::StreamEnded => "this half of the stream has ended",
            Self::HeadNotSent => "the head of the message has not been sent",
            Self::HeadAlreadySent => "the head of the message has been sent",
            Self::WrongRole => "clients send requests, servers send responses",
            Self::ConnectProtocolNotEnabled => "the peer has not enabled extended CONNECT",
            Self::AwaitsSettings => "the peer's settings, which decide, are not here yet",
            Self::FieldsTooLarge { size, limit } => {
                return write!(f, "the fields need {size} octets, the peer allows {limit}");
            }
            Self::HeadTooLarge { size, limit } => {
                return write!(f, "the head needs {size} octets, a connection may hold {limit}");
            }
            Self::Control(rule) => return write!(f, "cannot be sent: {rule}"),
            Self::Field { at, rule } => return write!(f, "field {at} cannot be sent: {rule}"),
            Self::ContentLength => "the content does not add up to content-length",
            Self::Status => "the status cannot be used here",
            Self::Setting => "the value is not allowed for this setting",
            Self::PingPending => "a ping is still unanswered",
            Self::Holes => "the holes of the prepared request and the values given do not match",
        };
        f.write_str(text)
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
            ConnectionError::Peer(Violation::DATA_ON_IDLE).to_string(),
            ConnectionError::GoAway { code: ErrorCode::NO_ERROR, last: 7 }.to_string(),
            ConnectionError::TimedOut(Awaited::Pong).to_string(),
            SendError::FieldsTooLarge { size: 70, limit: 60 }.to_string(),
            SendError::Field { at: 2, rule: Violation::CONNECTION_SPECIFIC }.to_string(),
        ];
        assert_eq!(
            errors,
            [
                "the peer broke HTTP/2: DATA on an idle stream (RFC 9113 §5.1)",
                "the peer went away with NO_ERROR after stream 7",
                "the peer did not answer a ping in time",
                "the fields need 70 octets, the peer allows 60",
                "field 2 cannot be sent: a field that is about the connection (RFC 9113 §8.2.2)",
            ]
        );
    }
}
