//! Notices: effects beside the events.

use crate::{error::ConnectionError, rule::Rule, stream_key::StreamKey};

/// An effect of bytes, a timeout or a command beside the event: for several streams, or for the connection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice<R: Rule> {
    /// The stream was reset, and nothing more comes or goes. Its slot is kept, and on a server counted
    /// against the limit of streams, until `reset` or `forget` is called for it.
    Reset {
        /// The stream.
        stream: StreamKey,
        /// The side that reset it, and why.
        reset: Reset<R>,
    },
    /// `send_data` had to stop short on this stream and can go on.
    Writable {
        /// The stream.
        stream: StreamKey,
    },
    /// The connection takes another request: a client may send one that was refused for want of room, a
    /// server of HTTP/1.1 reads on.
    Room,
    /// The connection takes no further requests, and ends with the messages under way. Requests that the peer
    /// has certainly not acted on were reset; the peer's words, if it said any.
    Last(Option<Farewell<R::Code>>),
    /// The peer broke a rule that brought down no more than a stream, which need not be one we know of: for
    /// those who count.
    Breach(R),
    /// The connection has ended by an error or a timeout; all its messages have ended with it.
    Closed(ConnectionError<R>),
}

/// The words of a peer that goes away: GOAWAY (RFC 9113 §6.8).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Farewell<C> {
    /// Its reason; `goaway_debug` of the machine has what else it said.
    pub code: C,
    /// The highest stream that it has acted on or will act on.
    pub last: u64,
}

/// The reset of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reset<R: Rule> {
    /// The code that one side told the other.
    pub code: R::Code,
    /// The side that reset the stream, and the rule that the peer broke, if it was us.
    pub origin: Origin<R>,
    /// True if the peer has certainly not acted on the request: it is safe to send it again (RFC 9113 §8.7).
    pub unprocessed: bool,
}

/// The side that reset a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin<R> {
    /// The peer, by a reset of the stream.
    Peer,
    /// The peer, by going away.
    GoAway,
    /// We, because the peer broke this rule.
    Us(R),
}

/// The reason for which this side resets a stream or closes a connection; each machine has its table of codes
/// for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// The rest of the message is not wanted; no rule is broken.
    NotWanted,
    /// A client gives up.
    Cancelled,
    /// A server has not looked at the request, and a client may send it again.
    Refused,
    /// A server fails.
    Failed,
    /// The peer asks for too much.
    TooMuch,
}
