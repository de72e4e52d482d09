//! What the machine tells its driver.

use alula_machine::StreamKey;

use crate::error::ConnectionError;

/// What [`Connection::receive`](crate::Connection::receive) made of the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Received<'i> {
    /// The number of octets that were used up, from the front. The others are to be given again, with more after them.
    pub consumed: usize,
    /// What happened; without an event the input was used up as far as it goes, and more is wanted.
    pub event: Option<Event<'i>>,
}

/// What a piece of the input said. Borrows from the input and never from the machine.
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
    /// An interim response, 1xx but not 101 (client only). [`take_head`](crate::Connection::take_head) gives its head, which
    /// the next head replaces.
    Interim {
        /// The stream.
        stream: StreamKey,
    },
    /// Content. Give the octets back with [`release_capacity`](crate::Connection::release_capacity) when they are consumed.
    /// In a tunnel, after 101 or CONNECT, these are the octets of the other protocol.
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
}

/// What octets, a timeout or a command caused beside the event.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice {
    /// [`send_data`](crate::Connection::send_data) had to wait for the peer's answer, and can go on.
    Writable {
        /// The stream.
        stream: StreamKey,
    },
    /// The messages under way are over, and the connection takes another request: a client may send it, a server reads on.
    Idle,
    /// The connection takes no further request; it ends with the messages under way.
    Last,
    /// The connection has ended; its messages have ended with it.
    Closed(ConnectionError),
}
