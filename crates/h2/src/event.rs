//! What the machine tells its driver.

use alula_machine::StreamKey;

use crate::error::ConnectionError;
use crate::error_code::ErrorCode;
use crate::violation::Violation;

/// What [`Connection::receive`](crate::Connection::receive) made of the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Received<'i> {
    /// The number of octets that were used up, from the front.
    pub consumed: usize,
    /// What happened; without an event the input was used up as far as it goes, and more is wanted.
    pub event: Option<Event<'i>>,
}

/// What one frame said to one stream, or to the connection. Borrows from the input and never from the machine.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event<'i> {
    /// A request (server), or the final response (client), has begun.
    ///
    /// [`take_head`](crate::Connection::take_head) gives the head.
    Head {
        /// The stream; to a server it is new.
        stream: StreamKey,
        /// True if that was all: no content and no trailers follow.
        end: bool,
    },
    /// An interim response, 1xx (client only). [`take_head`](crate::Connection::take_head) gives its head, which the next
    /// head replaces.
    Interim {
        /// The stream.
        stream: StreamKey,
    },
    /// A new request has more fields than we take (server only). It is well-formed so far as it was kept, and nothing of it
    /// was kept: answer it, with 431 say, or [`reset`](crate::Connection::reset) it.
    HeadTooLarge {
        /// The stream, which is new.
        stream: StreamKey,
        /// True if the request has no content.
        end: bool,
    },
    /// Content, as much of a DATA frame as is here. Give the octets back with
    /// [`release_capacity`](crate::Connection::release_capacity) when they are consumed; padding was given back already.
    Data {
        /// The stream.
        stream: StreamKey,
        /// The octets, in the input; empty only if `end` is set.
        bytes: &'i [u8],
        /// True if that was all: neither content nor trailers follow.
        end: bool,
    },
    /// Trailers, which end the message. [`take_trailers`](crate::Connection::take_trailers) gives them.
    Trailers {
        /// The stream.
        stream: StreamKey,
    },
    /// The peer's SETTINGS are in force; see [`peer_settings`](crate::Connection::peer_settings).
    Settings,
    /// The peer has acknowledged the oldest of our SETTINGS that it had not.
    SettingsAcknowledged,
    /// The answer to our [`ping`](crate::Connection::ping).
    Pong {
        /// What the ping said.
        payload: [u8; 8],
    },
}

/// What a frame, a timeout or a command caused beside the event: for several streams, or for the connection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice {
    /// The stream was reset, and nothing more comes or goes. Its slot is kept, and on a server counted against the limit of
    /// streams, until [`reset`](crate::Connection::reset) or [`forget`](crate::Connection::forget) is called for it.
    Reset {
        /// The stream.
        stream: StreamKey,
        /// By whom, and why.
        reset: Reset,
    },
    /// [`send_data`](crate::Connection::send_data) had to stop short on this stream and can go on.
    Writable {
        /// The stream.
        stream: StreamKey,
    },
    /// A request was refused with `SendError::StreamLimit`, and now there is room for at least one; or with
    /// `SendError::AwaitsSettings`, and now they are here.
    StreamSlots,
    /// The peer goes away. Requests above `last` were reset with `unprocessed`, and new ones are refused.
    GoAway {
        /// The highest stream the peer has acted on or will act on.
        last: u32,
        /// Why; see [`goaway_debug`](crate::Connection::goaway_debug) for what else it said.
        code: ErrorCode,
    },
    /// The peer broke a rule that brought down no more than a stream, which need not be one we know of: for those who count.
    Breach(Violation),
    /// The connection has ended by an error or a timeout; all its streams have ended with it.
    Closed(ConnectionError),
}

/// How a stream was reset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reset {
    /// What one side told the other.
    pub code: ErrorCode,
    /// Which side it was, and over what.
    pub origin: Origin,
    /// True if the peer has certainly not acted on the request: it is safe to send it again (RFC 9113 §8.7).
    pub unprocessed: bool,
}

/// Who reset a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The peer, with RST_STREAM.
    Peer,
    /// The peer, with GOAWAY.
    GoAway,
    /// We, because the peer broke this rule.
    Us(Violation),
}
