//! `alula store --slow-log`: one line for each request that took long.

use std::{io::Write as _, time::Duration};

use alula::{Ended, Hook, Status};

use super::lines::{Escaped, Lines};

/// Writes a line for each request that took this long or longer: what was asked for, by whom, the seconds it took and the status, such as
/// `alula: slow: GET /buckets/b/keys/k from 127.0.0.1 took 1.204 s (200)`.
pub(crate) struct SlowLog {
    lines: Lines,
    at_least: Duration,
}

impl SlowLog {
    pub(crate) fn new(lines: Lines, at_least: Duration) -> Self {
        Self { lines, at_least }
    }
}

impl Hook for SlowLog {
    fn end(&self, ended: &Ended<'_>) {
        if ended.duration() >= self.at_least {
            self.lines.push(|line| write(line, ended));
        }
    }
}

/// Appends the line. A `Vec` takes all there is.
fn write(line: &mut Vec<u8>, ended: &Ended<'_>) {
    let (method, target) = (Escaped(ended.method().as_bytes()), Escaped(ended.target().as_bytes()));
    let seconds = ended.duration().as_secs_f64();
    let _ =
        write!(line, "alula: slow: {method} {target} from {} took {seconds:.3} s (", ended.client_address());
    let _ = match ended.status().map(Status::as_u16) {
        Some(status) => writeln!(line, "{status})"),
        None => writeln!(line, "no answer)"),
    };
}
