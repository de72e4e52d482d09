//! `-vv`: each frame of HTTP/2 as a line on stderr.

use alula::h2::FrameSummary;
use anstyle::{Ansi256Color, Color, Style};

use crate::terminal;

const SENT: Style = Style::new().bold();
/// A green with a contrast of 4.5 to black and to white.
const RECEIVED: Style = Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(29))));

/// Prints one frame.
pub(crate) fn print(frame: &FrameSummary) {
    terminal::tell(style_of(frame), frame.to_string().as_bytes());
}

fn style_of(frame: &FrameSummary) -> Style {
    if frame.sent { SENT } else { RECEIVED }
}

#[cfg(test)]
mod tests {
    use alula::h2::{Detail, ErrorCode, FrameKind};

    use super::*;

    #[test]
    fn a_frame_is_a_line_that_shows_its_direction() {
        let frame = FrameSummary {
            sent: false,
            kind: FrameKind::RST_STREAM,
            flags: 0,
            stream: 1,
            length: 4,
            detail: Detail::Code(ErrorCode::CANCEL),
        };
        assert_eq!(frame.to_string(), "recv RST_STREAM stream=1 length=4 code=CANCEL");
        assert_eq!(style_of(&frame).render().to_string(), "\x1b[38;5;29m");
        assert_eq!(style_of(&FrameSummary { sent: true, ..frame }), SENT);
    }
}
