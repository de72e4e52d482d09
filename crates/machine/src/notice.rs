//! Notices: effects beside the events.

use crate::{error::ConnectionError, rule::Rule, stream_key::StreamKey};

/// An effect of input, a timeout or a command beside the event: for several streams, or for the connection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice<R: Rule> {
    /// The stream was reset, and nothing more comes or goes. Its slot is kept, and on a server counted
    /// against the limit of streams, until `reset` or `forget` is called for it.
    Reset {
        /// The stream.
        stream: StreamKey,
        /// The side that reset it, and the reason.
        reset: Reset<R>,
    },
    /// A stream on which `send_data` stopped short can send again.
    Writable {
        /// The stream.
        stream: StreamKey,
    },
    /// The connection takes another request: a client may send one that was refused for want of a slot, a
    /// server of HTTP/1.1 reads on.
    Room,
    /// The connection takes no further requests, and ends with the present messages. Requests that the peer
    /// has certainly not acted on were reset; the peer's words, if it said any.
    Last(Option<Farewell<R::Code>>),
    /// The peer broke a rule that ended at most a stream, possibly an unknown one: for counting.
    Breach(R),
    /// The connection has ended by an error or a timeout; all its messages have ended with it.
    Closed(ConnectionError<R>),
}

/// The message with which a peer goes away: GOAWAY (RFC 9113 §6.8).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Farewell<C> {
    /// The error code; `goaway_debug` of the machine has what else it said.
    pub code: C,
    /// The highest stream that the peer has acted on or will act on.
    pub last: u64,
}

/// The reset of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reset<R: Rule> {
    /// The error code that one side sent to the other.
    pub code: R::Code,
    /// The side that reset the stream, and the rule that the peer broke, if this side did.
    pub origin: Origin<R>,
    /// True if the peer has certainly not acted on the request, so that it may be sent again (RFC 9113 §8.7).
    pub unprocessed: bool,
}

/// The side that reset a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin<R> {
    /// The peer, with a reset of the stream.
    Peer,
    /// The peer, with a GOAWAY.
    GoAway,
    /// This side, because the peer broke this rule.
    Us(R),
}

/// The reason for which this side resets a stream or closes a connection; each machine maps it to its codes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// The rest of the message is not wanted, although no rule is broken.
    NotWanted,
    /// The client abandons the request.
    Cancelled,
    /// The server has not acted on the request, and a client may send it again.
    Refused,
    /// The server failed.
    Failed,
    /// The peer asks for too much.
    TooMuch,
}
