//! `--log`: one line per request, in the manner of the common log format, with the seconds it took.

use std::{io::Write as _, time::SystemTime};

use alula::{Ended, Hook, Status};

use super::lines::{ClfTime, Escaped, Lines};

/// Writes the line of each request when it has ended: peer, time of arrival, request, status, octets of content, seconds.
pub(crate) struct LogLine(pub(crate) Lines);

impl Hook for LogLine {
    fn end(&self, ended: &Ended<'_>) {
        let now = SystemTime::now();
        let arrived = now.checked_sub(ended.duration()).unwrap_or(now);
        self.0.push(|line| write(line, ended, arrived));
    }
}

/// Appends the line. A `Vec` takes all there is.
fn write(line: &mut Vec<u8>, ended: &Ended<'_>, arrived: SystemTime) {
    let _ = write!(line, "{} - - [{}] \"", ended.peer().ip(), ClfTime(arrived));
    let (method, target) = (Escaped(ended.method().as_bytes()), Escaped(ended.target().as_bytes()));
    let _ = write!(line, "{method} {target} {}\"", ended.version());
    let status = ended.status().map_or(0, Status::as_u16);
    let end = if ended.failure().is_some() { " cut off" } else { "" };
    let seconds = ended.duration().as_secs_f64();
    let _ = writeln!(line, " {status} {} {seconds:.6}{end}", ended.sent());
}
