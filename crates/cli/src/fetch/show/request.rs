//! A whole request as text: raw, or formatted.

use super::{Show, head};
use crate::terminal::Painted;

const END: &[u8] = b"\r\n\r\n";

/// Returns the shown parts of a request: raw bytes, or head lines and formatted JSON.
pub(crate) fn request(bytes: &[u8], show: &Show) -> Painted {
    let end = bytes.windows(END.len()).position(|window| window == END);
    let (head, content) = end.map_or((bytes, &b""[..]), |at| (&bytes[..at], &bytes[at + END.len()..]));
    let mut shown = show.painted();
    let is_for_the_eye = show.is_on_terminal || show.is_laid_out || show.is_coloured;
    if show.request_head {
        match is_for_the_eye {
            true => head::lines(head, show, &mut shown),
            false => shown.text(&[head, END].concat()),
        }
    }
    if show.request_content {
        match show.json(content).filter(|_| is_for_the_eye) {
            Some(json) => shown.append(json),
            None => shown.text(content),
        }
        if show.is_on_terminal && shown.last().is_some_and(|last| last != b'\n') {
            shown.own("\n");
        }
    }
    shown
}
