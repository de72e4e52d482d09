//! `--log`: one line for each request, like the common log format with a duration.

use std::{io::Write as _, time::SystemTime};

use alula::{Ended, FailureCause, Hook, Phase, RequestFailure, Status};

use super::lines::{ClfTime, Escaped, Lines};

/// Writes a line for each ended request: peer, time of arrival, request, status, bytes of content, seconds.
pub(crate) struct LogLine(pub(crate) Lines);

impl Hook for LogLine {
    fn end(&self, ended: &Ended<'_>) {
        let now = SystemTime::now();
        let arrived = now.checked_sub(ended.duration()).unwrap_or(now);
        self.0.push(|line| write(line, ended, arrived));
    }
}

/// Writes a line for a request that reached no handler, and the number of earlier ones without a line.
pub(super) fn refused(lines: &Lines, failure: &RequestFailure<'_>) {
    let FailureCause::Refused(error) = failure.cause() else { return };
    lines.push(|line| {
        if failure.left_out() > 0 {
            let _ = writeln!(line, "{} refused requests are left out", failure.left_out());
        }
        let or_dash = |text| if <str>::is_empty(text) { "-" } else { text };
        let (method, target) = (or_dash(failure.method()), or_dash(failure.target()));
        let (method, target) = (Escaped(method.as_bytes()), Escaped(target.as_bytes()));
        let (peer, time) = (failure.peer().ip(), ClfTime(SystemTime::now()));
        let _ = write!(line, "{peer} - - [{time}] \"{method} {target} ");
        let _ = match error.phase() {
            // The version is not agreed on before the handshake has ended.
            Phase::Handshake => write!(line, "-\""),
            _ => write!(line, "{}\"", failure.version()),
        };
        let (status, reason) = (failure.status().map_or(0, Status::as_u16), failure.reason());
        let _ = writeln!(line, " {status} 0 - refused: {}", Escaped(reason.as_bytes()));
    });
}

/// Appends the line. A `Vec` takes all there is.
fn write(line: &mut Vec<u8>, ended: &Ended<'_>, arrived: SystemTime) {
    let _ = write!(line, "{} - - [{}] \"", ended.peer().ip(), ClfTime(arrived));
    let (method, target) = (Escaped(ended.method().as_bytes()), Escaped(ended.target().as_bytes()));
    let _ = write!(line, "{method} {target} {}\"", ended.version());
    let status = ended.status().map_or(0, Status::as_u16);
    let end = match ended.failure() {
        Some(_) if ended.client_left() => " client left",
        Some(_) => " cut off",
        None => "",
    };
    let seconds = ended.duration().as_secs_f64();
    let _ = writeln!(line, " {status} {} {seconds:.6}{end}", ended.sent());
}
