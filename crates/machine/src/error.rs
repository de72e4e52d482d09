//! The ends of connections, sorted by the party at fault: the peer, the network, time, or this side.

use core::{error::Error, fmt};

use crate::rule::Rule;

/// The reason for which a connection ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectionError<R: Rule> {
    /// The peer broke a rule, and was told so if the version has a way and the peer was still there.
    Peer(R),
    /// The peer broke a rule of field compression (RFC 7541, RFC 9204), and was told so.
    Compression {
        /// The rule in words, ending in its section.
        rule: &'static str,
    },
    /// The peer closed the connection with this reason.
    GoAway {
        /// The error code of the peer.
        code: R::Code,
        /// The highest stream it may have acted on; requests above it are safe to send again.
        last: u64,
    },
    /// The peer closed the connection without an answer: a request on a connection that had been used before
    /// was not acted on (RFC 9112 §9.3.1).
    Unanswered {
        /// True if the connection had been answered on before.
        is_reused: bool,
    },
    /// The peer closed the connection between two exchanges.
    PeerClosed,
    /// The peer was too slow.
    TimedOut(Awaited),
    /// A message was abandoned on this side, so that its rest is unsent or unread.
    GivenUp,
    /// This side closed the connection, with a code if the version has codes.
    Closed(Option<R::Code>),
}

/// A message that a peer did not send in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Awaited {
    /// Its first SETTINGS.
    Preface,
    /// The acknowledgment of our SETTINGS.
    SettingsAck,
    /// The rest of a head, or of a frame other than DATA, that had begun.
    Head,
    /// The next request.
    Request,
    /// The answer to a keep-alive PING.
    Pong,
}

impl<R: Rule> From<R> for ConnectionError<R> {
    fn from(rule: R) -> Self {
        Self::Peer(rule)
    }
}

impl<R: Rule> fmt::Display for ConnectionError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(rule) if rule.is_cut() => fmt::Display::fmt(rule, f),
            Self::Peer(rule) => write!(f, "the peer broke {}: {rule}", R::PROTOCOL),
            Self::Compression { rule } => write!(f, "the peer broke field compression: {rule}"),
            Self::GoAway { code, last } => write!(f, "the peer went away with {code} after stream {last}"),
            Self::Unanswered { .. } => f.write_str("the peer closed the connection without an answer"),
            Self::PeerClosed => f.write_str("the peer closed the connection"),
            Self::TimedOut(awaited) => write!(f, "the peer did not {awaited} in time"),
            Self::GivenUp => f.write_str("a message was given up before it was whole"),
            Self::Closed(Some(code)) => write!(f, "we closed the connection with {code}"),
            Self::Closed(None) => f.write_str("the connection was closed on this side"),
        }
    }
}

/// Writes what the peer did not do, as a verb.
impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preface => "send its settings",
            Self::SettingsAck => "acknowledge our settings",
            Self::Head => "finish a head",
            Self::Request => "send another request",
            Self::Pong => "answer a ping",
        })
    }
}

impl<R: Rule> Error for ConnectionError<R> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Peer(rule) => Some(rule),
            _ => None,
        }
    }
}
