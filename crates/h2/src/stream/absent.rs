//! Frames for streams that are not open, decided in one place (RFC 9113 §5.1).
//!
//! Rule 1: the table has no wildcard over what became of the stream; a test prints it whole.
//! Rule 2: frames that are no different whatever became of the stream need not look for it among those that
//! closed.

use crate::guard::violation::Violation;
use crate::stream::closed_ids::Closed;

/// The past of a stream that is not open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Absent {
    /// The stream was never opened, or the peer must not use its identifier.
    Idle,
    /// The stream is closed, and is remembered.
    Closed(Closed),
    /// The stream may have been open, and is not remembered.
    Forgotten,
    /// The stream was never open: one with a higher identifier was opened instead.
    Skipped,
}

/// A frame for the stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Frame {
    /// HEADERS that a server receives.
    Request,
    /// HEADERS that a client receives.
    Response,
    Data,
    RstStream,
    WindowUpdate,
}

/// The handling of the frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// The frame is legitimately late and small, and is ignored.
    Ignore,
    /// The frame was sent before the stream ended here, and costs what other frames cost.
    Late,
    /// The frame is a reset that has crossed ours, and counts as a reset.
    Crossed,
    /// The frame is useless.
    Glitch,
    /// The frame breaks a rule.
    Breach(Violation),
}

impl Frame {
    /// Returns true if the way in which the stream closed matters.
    pub(crate) const fn asks_how(self) -> bool {
        match self {
            Self::Request | Self::Response | Self::Data | Self::RstStream => true,
            Self::WindowUpdate => false,
        }
    }
}

impl Absent {
    /// Returns the handling of a frame for such a stream.
    pub(crate) const fn on(self, frame: Frame) -> Verdict {
        use Absent::{Forgotten, Idle, Skipped};
        use Frame::{Data, Request, Response, RstStream, WindowUpdate};
        use Verdict::{Breach, Crossed, Glitch, Ignore, Late};
        const ENDED: Absent = Absent::Closed(Closed::Ended);
        match (self, frame) {
            (Idle, Request) => Breach(Violation::EVEN_STREAM_ID),
            (Idle, Response) => Breach(Violation::HEADERS_ON_IDLE),
            (Idle, Data) => Breach(Violation::DATA_ON_IDLE),
            (Idle, RstStream) => Breach(Violation::RST_STREAM_ON_IDLE),
            (Idle, WindowUpdate) => Breach(Violation::WINDOW_UPDATE_ON_IDLE),
            (Absent::Closed(Closed::ResetByUs), RstStream) => Crossed,
            (Absent::Closed(Closed::ResetByPeer) | ENDED | Forgotten | Skipped, RstStream) => Glitch,
            (Absent::Closed(_) | Forgotten | Skipped, WindowUpdate) => Ignore,
            (Absent::Closed(Closed::ResetByUs), Request | Response | Data) => Late,
            (Absent::Closed(Closed::ResetByPeer), Request | Response | Data) => {
                Breach(Violation::FRAME_AFTER_RESET)
            }
            (ENDED, Request | Response | Data) => Breach(Violation::FRAME_ON_CLOSED),
            (Forgotten, Request) => Breach(Violation::HEADERS_ON_CLOSED),
            (Skipped, Request) => Breach(Violation::STREAM_ID_NOT_NEW),
            // A client that gives up many requests forgets them while their responses are on the way.
            (Forgotten | Skipped, Response) => Late,
            (Forgotten | Skipped, Data) => Breach(Violation::DATA_ON_CLOSED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    const ABSENT: [Absent; 6] = [
        Absent::Idle,
        Absent::Closed(Closed::Ended),
        Absent::Closed(Closed::ResetByUs),
        Absent::Closed(Closed::ResetByPeer),
        Absent::Forgotten,
        Absent::Skipped,
    ];

    const FRAMES: [Frame; 5] =
        [Frame::Request, Frame::Response, Frame::Data, Frame::RstStream, Frame::WindowUpdate];

    /// Prints the table: a row for each past of a stream and each frame.
    fn table() -> String {
        let mut text = String::new();
        for absent in ABSENT {
            for frame in FRAMES {
                let verdict = match absent.on(frame) {
                    Verdict::Breach(rule) => format!("{:?} {}: {}", rule.scope, rule.code, rule.rule),
                    verdict => format!("{verdict:?}"),
                };
                let absent = match absent {
                    Absent::Closed(how) => format!("{how:?}"),
                    absent => format!("{absent:?}"),
                };
                text += &format!("{absent:<11} {:<12} {verdict}\n", format!("{frame:?}"));
            }
        }
        text
    }

    #[test]
    fn every_stream_that_is_not_open_and_frame_is_as_written_down() {
        assert_eq!(table(), include_str!("absent.txt"), "\n{}", table());
    }

    #[test]
    fn frames_that_do_not_ask_how_it_closed_are_judged_alike() {
        for frame in FRAMES.into_iter().filter(|frame| !frame.asks_how()) {
            for absent in &ABSENT[1..] {
                assert_eq!(absent.on(frame), Absent::Forgotten.on(frame), "{absent:?} {frame:?}");
            }
        }
    }
}
