//! `--trace` and `--trace-ascii`: what is done, and the bytes that are sent and that come, in a file, in the
//! form that curl writes.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use alula::{ExchangeEvent, FieldSection, Version, h2::FrameSummary};

use super::verbose::{Direction, Verbose};
use crate::{args::OutputArgs, failure::exit::Failure};

/// Bytes in a line of digits.
const IN_DIGITS: usize = 16;
/// Bytes in a line without digits.
const IN_TEXT: usize = 64;

/// A trace that is written. A file that takes no more is left: the exchange goes on.
pub(in crate::fetch) struct Trace {
    to: Mutex<Box<dyn Write + Send>>,
    verbose: Verbose,
    has_digits: bool,
    has_times: bool,
}

impl Trace {
    /// The trace that is asked for, if one is.
    pub(in crate::fetch) fn of(args: &OutputArgs, verbose: Verbose) -> Result<Option<Self>, Failure> {
        let (path, has_digits) = match (&args.trace, &args.trace_ascii) {
            (Some(path), _) => (path, true),
            (None, Some(path)) => (path, false),
            (None, None) => return Ok(None),
        };
        let to = Mutex::new(
            open(path, args.trace_goes_on).map_err(|error| Failure::local(path.display(), &error))?,
        );
        Ok(Some(Self { to, verbose, has_digits, has_times: args.trace_time }))
    }

    /// Writes a step of an exchange.
    pub(in crate::fetch) fn see(&self, event: &ExchangeEvent<'_>) {
        if let ExchangeEvent::Trailers(version, trailers) = event {
            return self.trailers(*version, trailers);
        }
        self.verbose.steps(event).iter().for_each(|line| self.info(line));
        if let Some((direction, lines)) = self.verbose.head(event) {
            let head: Vec<u8> = lines.iter().flat_map(|line| [&line[..], b"\r\n"].concat()).collect();
            self.bytes(direction, "header", &[&head[..], b"\r\n"].concat());
        }
    }

    /// Writes the fields that came behind the content.
    pub(in crate::fetch) fn trailers(&self, version: Version, trailers: &FieldSection) {
        let lines = self.verbose.fields(version, trailers).map(|line| [&line[..], b"\r\n"].concat());
        self.bytes(Direction::Received, "header", &lines.flatten().collect::<Vec<u8>>());
    }

    /// Writes a frame of HTTP/2.
    pub(in crate::fetch) fn frame(&self, frame: &FrameSummary) {
        self.info(&frame.to_string());
    }

    /// Writes content.
    pub(in crate::fetch) fn content(&self, direction: Direction, bytes: &[u8]) {
        self.bytes(direction, "data", bytes);
    }

    fn info(&self, line: &str) {
        self.write(&format!("{}== Info: {}\n", self.time(), printable(line.as_bytes())));
    }

    fn bytes(&self, direction: Direction, what: &str, bytes: &[u8]) {
        let length = bytes.len();
        let way = match direction {
            Direction::Sent => "=> Send",
            Direction::Received => "<= Recv",
        };
        let lines = if self.has_digits { in_digits(bytes) } else { in_text(bytes) };
        self.write(&format!("{}{way} {what}, {length} bytes ({length:#x})\n{lines}", self.time()));
    }

    fn write(&self, text: &str) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // The exchange goes on without a trace that cannot be written.
        let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    }

    /// The time of day in UTC, with microseconds, if times are wanted.
    fn time(&self) -> String {
        if !self.has_times {
            return String::new();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = now.as_secs() % 86_400;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}.{:06} ", seconds % 60, now.subsec_micros())
    }
}

/// `-` is stdout, `%` stderr.
fn open(path: &Path, goes_on: bool) -> io::Result<Box<dyn Write + Send>> {
    Ok(match path.as_os_str().to_str() {
        Some("-") => Box::new(io::stdout()),
        Some("%") => Box::new(io::stderr()),
        // It is not there if the request that begins it failed before.
        _ if goes_on => Box::new(File::options().append(true).create(true).open(path)?),
        _ => Box::new(File::create(path)?),
    })
}

/// Lines of offset, digits and characters.
fn in_digits(bytes: &[u8]) -> String {
    let line = |(at, bytes): (usize, &[u8])| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        format!("{:04x}: {digits:<48}{}\n", at * IN_DIGITS, printable(bytes))
    };
    bytes.chunks(IN_DIGITS).enumerate().map(line).collect()
}

/// Lines of offset and characters; one of the text ends a line of these, too.
fn in_text(bytes: &[u8]) -> String {
    let (mut lines, mut at) = (String::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..bytes.len().min(at + IN_TEXT)];
        let end = rest.windows(2).position(|two| two == b"\r\n");
        let (text, taken) = end.map_or((rest, rest.len()), |end| (&rest[..end], end + 2));
        lines += &format!("{at:04x}: {}\n", printable(text));
        at += taken;
    }
    lines
}

/// Characters of ASCII, and dots in place of all others.
fn printable(bytes: &[u8]) -> String {
    let shown = |byte: &u8| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' };
    bytes.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_laid_out_as_curl_does_it() {
        assert_eq!(
            in_digits(b"GET / HTTP/1.1\r\nab"),
            "0000: 47 45 54 20 2f 20 48 54 54 50 2f 31 2e 31 0d 0a GET / HTTP/1.1..\n\
             0010: 61 62                                           ab\n"
        );
        assert_eq!(
            in_text(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            "0000: GET / HTTP/1.1\n0010: Host: a\n0019: \n"
        );
        assert_eq!(in_text(&[b'x'; 70]).lines().count(), 2);
        assert_eq!(in_digits(b"") + &in_text(b""), "");
        assert_eq!(printable(b"a\x1b[1m\xff"), "a.[1m.");
    }
}
