//! Events: the meanings of pieces of the input.

use core::convert::Infallible;

use crate::stream_key::StreamKey;

/// The outcome of giving bytes to a machine. `F` is the type of the facts that its version has beside
/// messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Received<'i, F = Infallible> {
    /// The number of bytes that were used, from the front. The others are to be given again, with more after
    /// them.
    pub consumed: usize,
    /// The event; without one, the input was used as far as possible, and more is needed.
    pub event: Option<Event<'i, F>>,
}

/// The meaning of a piece of the input, for one stream or for the connection. Borrows from the input and
/// never from the machine.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event<'i, F = Infallible> {
    /// A request (server), or the final response (client), has begun. `exchange_head` of the machine gives
    /// the head.
    Head {
        /// The stream; to a server it is new.
        stream: StreamKey,
        /// True if the message ends: no content and no trailers follow.
        end: bool,
    },
    /// An interim response, 1xx but not 101 (client only). `exchange_head` gives its head, which the next
    /// head replaces.
    Interim {
        /// The stream.
        stream: StreamKey,
    },
    /// A new request has more fields than are accepted (server only), on a connection that goes on. It is
    /// well-formed as far as it was looked at, and nothing of it was kept: answer it, with 431 say, or reset
    /// the stream.
    HeadTooLarge {
        /// The stream, which is new.
        stream: StreamKey,
        /// True if the request has no content.
        end: bool,
    },
    /// Content, as much of it as is here. Give the bytes back with `release_capacity` when they are consumed.
    /// In a tunnel, after 101 or CONNECT, these are the bytes of the other protocol.
    Data {
        /// The stream.
        stream: StreamKey,
        /// The bytes, in the input; empty only if `end` is set.
        bytes: &'i [u8],
        /// True if the message ends: neither content nor trailers follow.
        end: bool,
    },
    /// Trailers, which end the message. `take_trailers` gives them.
    Trailers {
        /// The stream.
        stream: StreamKey,
    },
    /// A fact about the connection that only this version has; drivers of messages ignore it.
    Fact(F),
}

impl<'i, F> Event<'i, F> {
    /// Returns the same event, unless it is a fact of one version.
    #[inline(always)]
    pub fn of_message(self) -> Option<Event<'i>> {
        Some(match self {
            Self::Head { stream, end } => Event::Head { stream, end },
            Self::Interim { stream } => Event::Interim { stream },
            Self::HeadTooLarge { stream, end } => Event::HeadTooLarge { stream, end },
            Self::Data { stream, bytes, end } => Event::Data { stream, bytes, end },
            Self::Trailers { stream } => Event::Trailers { stream },
            Self::Fact(_) => return None,
        })
    }
}
