//! The position of the input within a frame, and the result of a step.

use alula_machine::StreamKey;

use crate::event::Event;
use crate::frame::FrameHeader;
use crate::frame::error_code::ErrorCode;

/// The position of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    /// The client's magic bytes, of which some have come (server only).
    Magic { matched: usize },
    /// The start of a frame, or its header.
    Header,
    /// The payload of a frame that is small and of known length.
    Small(FrameHeader),
    /// The entries of SETTINGS.
    Settings { left: u32 },
    /// The debug data of GOAWAY, which takes effect after it.
    GoAwayDebug { left: u32, last: u32, code: ErrorCode },
    /// The part of HEADERS before the field block fragment, as announced by its flags.
    HeadersPrefix(FrameHeader),
    /// A field block fragment.
    Fragment { left: u32, padding: u32, is_last: bool },
    /// The length of the padding of DATA.
    DataPrefix(FrameHeader),
    /// The content of DATA.
    Data { stream: StreamKey, left: u32, padding: u32, end: bool },
    /// The value of PRIORITY_UPDATE.
    PriorityValue { header: FrameHeader, left: u32 },
    /// Bytes that are dropped.
    Skip { left: u32 },
}

/// The result of a step.
pub(crate) enum Step<'i> {
    /// The step has more to do.
    More,
    /// The step needs more input.
    Starved,
    Event(Event<'i>),
}
