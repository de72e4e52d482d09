//! What the machine of either version tells the loops: events of the input, and notices beside them.

use alula_h1 as h1;
use alula_h2::{self as h2, ErrorCode, Violation};
use alula_machine::StreamKey;

use crate::error::Error;

/// What a piece of the input said.
pub(crate) enum Event<'i> {
    Head {
        stream: StreamKey,
        end: bool,
    },
    Interim {
        stream: StreamKey,
    },
    HeadTooLarge {
        stream: StreamKey,
    },
    Data {
        stream: StreamKey,
        bytes: &'i [u8],
        end: bool,
    },
    Trailers {
        stream: StreamKey,
    },
    /// Of no interest to handles of streams.
    Other,
}

/// What happened beside the events.
pub(crate) enum Notice {
    Writable {
        stream: StreamKey,
    },
    Reset {
        stream: StreamKey,
        error: Error,
    },
    /// A new stream may be opened.
    StreamSlots,
    /// No new streams; with the code, if the peer named one.
    Last(Option<ErrorCode>),
    Breach(Violation),
    Closed(Error),
    Other,
}

impl<'i> From<h1::Event<'i>> for Event<'i> {
    #[inline]
    fn from(event: h1::Event<'i>) -> Self {
        match event {
            h1::Event::Head { stream, end } => Self::Head { stream, end },
            h1::Event::Interim { stream } => Self::Interim { stream },
            h1::Event::Data { stream, bytes, end } => Self::Data { stream, bytes, end },
            h1::Event::Trailers { stream } => Self::Trailers { stream },
            _ => Self::Other,
        }
    }
}

impl<'i> From<h2::Event<'i>> for Event<'i> {
    #[inline]
    fn from(event: h2::Event<'i>) -> Self {
        match event {
            h2::Event::Head { stream, end } => Self::Head { stream, end },
            h2::Event::Interim { stream } => Self::Interim { stream },
            h2::Event::Data { stream, bytes, end } => Self::Data { stream, bytes, end },
            h2::Event::Trailers { stream } => Self::Trailers { stream },
            h2::Event::HeadTooLarge { stream, .. } => Self::HeadTooLarge { stream },
            // Settings concern the machine.
            _ => Self::Other,
        }
    }
}

impl Notice {
    /// The same with what the machine knows of the failure.
    #[inline]
    pub(crate) fn of_http1(notice: h1::Notice, machine: &h1::Connection) -> Self {
        match notice {
            h1::Notice::Writable { stream } => Self::Writable { stream },
            h1::Notice::Idle => Self::StreamSlots,
            h1::Notice::Last => Self::Last(None),
            h1::Notice::Closed(error) => Self::Closed(Error::http1(error).exceeding(machine.exceeded())),
            _ => Self::Other,
        }
    }
}

impl Notice {
    /// The same with the debug data of the peer's GOAWAY, and with the limit that the peer went over.
    #[inline]
    pub(crate) fn of_http2(notice: h2::Notice, machine: &h2::Connection) -> Self {
        match notice {
            h2::Notice::Writable { stream } => Self::Writable { stream },
            h2::Notice::Reset { stream, reset } => {
                let error = Error::reset(&reset).with_goaway_debug(machine.goaway_debug());
                Self::Reset { stream, error: error.exceeding(machine.exceeded()) }
            }
            h2::Notice::StreamSlots => Self::StreamSlots,
            h2::Notice::GoAway { code, .. } => Self::Last(Some(code)),
            h2::Notice::Breach(violation) => Self::Breach(violation),
            h2::Notice::Closed(error) => Self::Closed(Error::connection(error).exceeding(machine.exceeded())),
            _ => Self::Other,
        }
    }
}
