//! `alula store --slow-log`: one line for each slow request.

use std::{fmt, io::Write as _, time::Duration};

use alula::{Ended, Hook, Status};

use super::lines::{Escaped, Lines};

/// Writes a line for each request that took at least this long: its target, its user, its duration and the
/// status, such as `alula: slow: GET /buckets/b/keys/k from 127.0.0.1 took 1.204 s (200)`. Less than a second
/// is in milliseconds.
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
    let (peer, took) = (ended.client_address(), Took(ended.duration()));
    let _ = write!(line, "alula: slow: {method} {target} from {peer} took {took} (");
    let _ = match ended.status().map(Status::as_u16) {
        Some(status) => writeln!(line, "{status})"),
        None => writeln!(line, "no answer)"),
    };
}

/// A time with its unit and three digits after the point.
struct Took(Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs_f64() {
            seconds if seconds < 1.0 => write!(f, "{:.3} ms", seconds * 1e3),
            seconds => write!(f, "{seconds:.3} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_never_shown_as_none() {
        for (nanos, expected) in [
            (1_204_000_000, "1.204 s"),
            (999_400_000, "999.400 ms"),
            (412_345, "0.412 ms"),
            (600, "0.001 ms"),
        ] {
            assert_eq!(Took(Duration::from_nanos(nanos)).to_string(), expected);
        }
    }
}
