//! `-v`: each frame, each redirect and what TLS has agreed on as a line on stderr.

use std::io::Write as _;

use alula::{Follow, Redirect, TlsFacts, h2::FrameSummary};

/// Prints one frame. A stderr that has gone away is no reason to stop.
pub(crate) fn print(frame: &FrameSummary) {
    let _ = writeln!(anstream::stderr(), "{}", line(frame));
}

/// Prints where a redirect leads, and follows it.
pub(super) fn print_redirect(redirect: &Redirect<'_>) -> Follow {
    let _ = writeln!(anstream::stderr(), "{} leads to {}", redirect.status().code(), redirect.to());
    Follow::Yes
}

/// Prints what was agreed on by TLS.
pub(super) fn print_tls(tls: &TlsFacts) {
    let alpn = tls.alpn().map_or_else(|| "none".into(), String::from_utf8_lossy);
    let _ = writeln!(anstream::stderr(), "{} {} alpn={alpn}", tls.protocol(), tls.cipher_suite());
}

/// What we send is bold, what we receive is not; the colours are dropped where stderr is no terminal.
fn line(frame: &FrameSummary) -> String {
    let style = if frame.sent { "\x1b[1m" } else { "\x1b[36m" };
    format!("{style}{frame}\x1b[0m")
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
        assert_eq!(line(&frame), "\x1b[36mrecv RST_STREAM stream=1 length=4 code=CANCEL\x1b[0m");
    }
}
