//! The place in a frame at which the input stands, and the end of a step.

use alula_machine::StreamKey;

use crate::event::Event;
use crate::frame::FrameHeader;
use crate::frame::error_code::ErrorCode;

/// The place in the input at which we are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// In the client's magic (server only).
    Magic { matched: usize },
    /// At the start of a frame, or in its header.
    Header,
    /// At the payload of a frame that is small and of known length.
    Small(FrameHeader),
    /// At an entry of SETTINGS.
    Settings { left: u32 },
    /// In the debug data of GOAWAY, which takes effect after it.
    GoAwayDebug { left: u32, last: u32, code: ErrorCode },
    /// Before the field block fragment of HEADERS, at what its flags announce.
    HeadersPrefix(FrameHeader),
    /// In a field block fragment.
    Fragment { left: u32, padding: u32, is_last: bool },
    /// At the length of the padding of DATA.
    DataPrefix(FrameHeader),
    /// In the content of DATA.
    Data { stream: StreamKey, left: u32, padding: u32, end: bool },
    /// In the value of PRIORITY_UPDATE.
    PriorityValue { header: FrameHeader, left: u32 },
    /// In bytes nobody wants.
    Skip { left: u32 },
}

/// The end of a step.
pub(super) enum Step<'i> {
    /// With more to do.
    More,
    /// For want of input.
    Starved,
    Event(Event<'i>),
}
