//! A trace for observers: one line for each frame in both directions, and the head that was sent last;
//! nothing is kept without an observer.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use alula_hpack::Encoder;

use crate::frame::error_code::ErrorCode;
use crate::frame::priority::Priority;
use crate::frame::{FrameHeader, FrameKind, flag};
use crate::head::sent_head::SentHead;

/// A frame that was received or sent. Its `Display` is one line: the direction, the kind, the stream, the
/// length of the payload, the names of the flags that are set and mean something, and what a small frame
/// says. Kinds that nobody has defined have lines, too: `recv UNKNOWN(0x16) stream=3 length=9`.
///
/// ```
/// use alula::h2::{Config, Connection};
/// use alula::machine::{OutBuf, Time};
///
/// let mut client = Connection::client(Config { trace: true, ..Config::default() });
/// client.poll_transmit(Time::ZERO, &mut OutBuf::new());
/// let frame = client.poll_trace().unwrap();
/// assert!(frame.to_string().starts_with("send SETTINGS stream=0 length="));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameSummary {
    /// True if this side sent the frame.
    pub sent: bool,
    /// The type of the frame.
    pub kind: FrameKind,
    /// The flags of the frame.
    pub flags: u8,
    /// The stream of the frame, or 0 for the connection.
    pub stream: u32,
    /// The length of its payload in bytes.
    pub length: u32,
    /// The content of a small frame.
    pub detail: Detail,
}

impl FrameSummary {
    /// Parses a frame on the wire: its header, and the available part of its payload (RFC 9113 §4.1). `None`
    /// for fewer bytes than the nine of a header. Allocates nothing.
    ///
    /// ```
    /// use alula::h2::FrameSummary;
    ///
    /// let bytes = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    /// let frame = FrameSummary::read(false, &bytes).unwrap();
    /// assert_eq!(frame.to_string(), "recv WINDOW_UPDATE stream=0 length=4 increment=256");
    /// assert_eq!(FrameSummary::read(false, &bytes[..8]), None);
    /// ```
    pub fn read(sent: bool, bytes: &[u8]) -> Option<Self> {
        let (header, payload) = bytes.split_first_chunk()?;
        let FrameHeader { length, kind, flags, stream } = FrameHeader::parse(header);
        let payload = payload.get(..length as usize).unwrap_or(payload);
        Some(Self { sent, kind, flags, stream, length, detail: detail(kind, payload) })
    }
}

/// The content of a small frame.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Detail {
    /// The frame has no detail, or too much to show.
    None,
    /// RST_STREAM: why.
    Code(ErrorCode),
    /// WINDOW_UPDATE: how much more.
    Increment(u32),
    /// PING: the payload.
    Ping([u8; 8]),
    /// GOAWAY: the last stream, and why.
    GoAway(u32, ErrorCode),
    /// PRIORITY_UPDATE: the stream, and its priority.
    Priority(u32, Priority),
}

/// The latest 1024 frames that were not fetched yet, and the head that was sent last.
pub(crate) struct Trace {
    /// True if frames or heads are kept: one check for both.
    enabled: bool,
    keeps_frames: bool,
    sent_head: SentHead,
    /// A small frame whose payload is incomplete.
    begun: Option<FrameHeader>,
    frames: VecDeque<FrameSummary>,
}

const KEPT_MAX: usize = 1024;

impl Trace {
    pub(crate) fn new(keeps_frames: bool) -> Self {
        Self {
            enabled: keeps_frames,
            keeps_frames,
            sent_head: SentHead::default(),
            begun: None,
            frames: VecDeque::new(),
        }
    }

    /// Returns true if anybody observes.
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.enabled
    }

    /// Records the block of a sent head.
    pub(crate) fn keep_head(&mut self, block: &[u8]) {
        self.sent_head.read(block);
    }

    /// Begins to read back the heads that this encoder writes.
    pub(crate) fn keep_heads_of(&mut self, encoder: &Encoder) {
        self.sent_head.begin(encoder);
        self.enabled = true;
    }

    /// Ends that, and returns the lines of the head that was sent last.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        self.enabled = self.keeps_frames;
        self.sent_head.end()
    }

    #[inline]
    pub(crate) fn record(&mut self, sent: bool, header: FrameHeader, payload: &[u8]) {
        if self.enabled {
            self.keep(sent, header, payload);
        }
    }

    /// Records a received frame once its payload is complete, or found to be wrong.
    #[inline]
    pub(crate) fn begin(&mut self, header: FrameHeader) {
        if self.enabled {
            self.begun = Some(header);
        }
    }

    /// Records an unfinished frame as far as it is known, because it is wrong and nothing more is read.
    pub(crate) fn break_off(&mut self) {
        if let Some(header) = self.begun {
            self.keep_with(false, header, Detail::None);
        }
    }

    /// Records a frame like [`record`](Self::record), whose payload was parsed elsewhere.
    pub(crate) fn record_with(&mut self, sent: bool, header: FrameHeader, detail: impl FnOnce() -> Detail) {
        if self.enabled {
            self.keep_with(sent, header, detail());
        }
    }

    pub(crate) fn poll(&mut self) -> Option<FrameSummary> {
        self.frames.pop_front()
    }

    #[cold]
    fn keep(&mut self, sent: bool, header: FrameHeader, payload: &[u8]) {
        self.keep_with(sent, header, detail(header.kind, payload));
    }

    fn keep_with(&mut self, sent: bool, header: FrameHeader, detail: Detail) {
        if !sent {
            self.begun = None;
        }
        if !self.keeps_frames {
            return;
        }
        if self.frames.len() == KEPT_MAX {
            self.frames.pop_front();
        }
        let FrameHeader { length, kind, flags, stream } = header;
        self.frames.push_back(FrameSummary { sent, kind, flags, stream, length, detail });
    }
}

fn detail(kind: FrameKind, payload: &[u8]) -> Detail {
    let word = |at: usize| Some(u32::from_be_bytes(*payload.get(at..)?.first_chunk()?));
    match kind {
        FrameKind::RST_STREAM => word(0).map(|code| Detail::Code(ErrorCode(code))),
        FrameKind::WINDOW_UPDATE => word(0).map(Detail::Increment),
        FrameKind::PING => payload.first_chunk().copied().map(Detail::Ping),
        FrameKind::GOAWAY => word(0).zip(word(4)).map(|(last, code)| Detail::GoAway(last, ErrorCode(code))),
        FrameKind::PRIORITY_UPDATE => word(0)
            .zip(payload.get(4..).and_then(Priority::parse))
            .map(|(stream, priority)| Detail::Priority(stream, priority)),
        _ => None,
    }
    .unwrap_or(Detail::None)
}

impl fmt::Display for FrameSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.sent { "send" } else { "recv" };
        write!(f, "{way} {} stream={} length={}", self.kind, self.stream, self.length)?;
        for (bit, name) in flag_names(self.kind) {
            if self.flags & bit != 0 {
                write!(f, " {name}")?;
            }
        }
        match self.detail {
            Detail::None => Ok(()),
            Detail::Code(code) => write!(f, " code={code}"),
            Detail::Increment(bytes) => write!(f, " increment={bytes}"),
            Detail::Ping(payload) => write!(f, " payload={:016x}", u64::from_be_bytes(payload)),
            Detail::GoAway(last, code) => write!(f, " last={last} code={code}"),
            Detail::Priority(stream, priority) => write!(f, " prioritized={stream} priority={priority}"),
        }
    }
}

fn flag_names(kind: FrameKind) -> &'static [(u8, &'static str)] {
    match kind {
        FrameKind::DATA => &[(flag::END_STREAM, "END_STREAM"), (flag::PADDED, "PADDED")],
        FrameKind::HEADERS => &[
            (flag::END_STREAM, "END_STREAM"),
            (flag::END_HEADERS, "END_HEADERS"),
            (flag::PADDED, "PADDED"),
            (flag::PRIORITY, "PRIORITY"),
        ],
        FrameKind::CONTINUATION => &[(flag::END_HEADERS, "END_HEADERS")],
        FrameKind::SETTINGS | FrameKind::PING => &[(flag::ACK, "ACK")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_frame_is_a_line() {
        let mut trace = Trace::new(true);
        let header = |kind, flags, stream, length| FrameHeader { length, kind, flags, stream };
        trace.record(true, header(FrameKind::HEADERS, 0x5, 1, 40), &[]);
        trace.record(false, header(FrameKind::WINDOW_UPDATE, 0, 0, 4), &[0, 0, 1, 0]);
        trace.record(false, header(FrameKind::GOAWAY, 0, 0, 8), &[0, 0, 0, 7, 0, 0, 0, 11]);
        trace.record(false, header(FrameKind::PING, 1, 0, 8), b"\0\0\0\0\0\0\0\x07");
        trace.record(true, header(FrameKind::PRIORITY_UPDATE, 0, 0, 10), b"\0\0\0\x03u=1, i");
        trace.record(false, header(FrameKind(0x16), 0xff, 3, 9), &[]);
        for line in [
            "send HEADERS stream=1 length=40 END_STREAM END_HEADERS",
            "recv WINDOW_UPDATE stream=0 length=4 increment=256",
            "recv GOAWAY stream=0 length=8 last=7 code=ENHANCE_YOUR_CALM",
            "recv PING stream=0 length=8 ACK payload=0000000000000007",
            "send PRIORITY_UPDATE stream=0 length=10 prioritized=3 priority=u=1, i",
            "recv UNKNOWN(0x16) stream=3 length=9",
        ] {
            assert_eq!(trace.poll().unwrap().to_string(), line);
        }
        assert_eq!(trace.poll(), None);
    }

    #[test]
    fn nothing_is_kept_when_nobody_watches_and_little_when_nobody_asks() {
        let header = FrameHeader { length: 0, kind: FrameKind::DATA, flags: 0, stream: 1 };
        let (mut off, mut on) = (Trace::new(false), Trace::new(true));
        for _ in 0..2 * KEPT_MAX {
            off.record(true, header, &[]);
            on.record(true, header, &[]);
        }
        assert_eq!((off.frames.len(), on.frames.len()), (0, KEPT_MAX));
    }
}
