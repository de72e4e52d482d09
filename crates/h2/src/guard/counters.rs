//! The counters of a connection, for metrics and for the defences' tests.

use crate::frame::FrameKind;

/// Counts since the connection began; they wrap around.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Frames received, by kind; the last one counts the kinds that RFC 9113 does not define.
    pub frames_in: [u32; FrameKind::KNOWN + 1],
    /// Frames sent, by kind, likewise.
    pub frames_out: [u32; FrameKind::KNOWN + 1],
    /// PRIORITY frames, and priorities in HEADERS, that were ignored.
    pub priorities_ignored: u32,
    /// Frames for closed streams that were ignored.
    pub late_frames: u32,
    /// Behaviour that is legal but useless, or an error of one stream.
    pub glitches: u32,
    /// Streams we reset because the peer broke a rule.
    pub stream_errors: u32,
    /// Streams the peer reset.
    pub resets_in: u32,
    /// Streams refused because too many were open.
    pub refused: u32,
    /// Field sections that were too large.
    pub oversize_sections: u32,
    /// Streams that both sides have ended well.
    pub completed: u32,
    /// Header blocks that were recognised as a whole.
    pub memo_hits: u32,
}

impl Counters {
    #[inline]
    pub(crate) fn frame_in(&mut self, kind: FrameKind) {
        let at = usize::from(kind.0).min(FrameKind::KNOWN);
        self.frames_in[at] = self.frames_in[at].wrapping_add(1);
    }

    #[inline]
    pub(crate) fn frame_out(&mut self, kind: FrameKind) {
        let count = match self.frames_out.get_mut(usize::from(kind.0)) {
            Some(count) => count,
            None => &mut self.frames_out[FrameKind::KNOWN],
        };
        *count = count.wrapping_add(1);
    }
}
