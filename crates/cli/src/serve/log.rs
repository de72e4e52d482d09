//! One line per request, in the manner of the common log format, with the seconds it took.
//!
//! Lines are gathered in memory and written by a thread of their own, so that a slow reader of the log slows no request.
//! When it is too slow, lines are left out and counted. A line allocates nothing once the buffers are warm.

use std::{
    fmt::{self, Write as _},
    io::{self, Write},
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use alula::{Exchange, Status, masked_target};

/// Octets that wait for being written.
const WAITING_OCTETS_MAX: usize = 1024 * 1024;
/// How long the last lines may take.
const LAST_LINES_MAX: Duration = Duration::from_secs(2);
/// Buffers for lines that are kept.
const SPARES_MAX: usize = 256;

/// Where requests are written down.
pub(super) struct Log {
    state: Mutex<State>,
    is_ready: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    left_out: u64,
    is_closed: bool,
    spares: Vec<String>,
}

/// Writes the lines; when it is dropped, those that are left.
pub(super) struct LogWriter {
    log: Arc<Log>,
    /// Disconnected when the last line is written.
    ended: Receiver<()>,
}

/// What there is to say about one request. A request that is given up is written down when this is dropped.
pub(super) struct Record {
    /// The log, the line as far as it is written, and when the request came.
    line: Option<(Arc<Log>, String, Instant)>,
    status: Option<Status>,
    octets: u64,
    is_whole: bool,
}

impl Log {
    /// A log on stderr, and what writes it.
    pub(super) fn to_stderr() -> (Arc<Self>, LogWriter) {
        Self::to(io::stderr())
    }

    pub(super) fn to(mut out: impl Write + Send + 'static) -> (Arc<Self>, LogWriter) {
        let log = Arc::new(Self { state: Mutex::default(), is_ready: Condvar::new() });
        let written = Arc::clone(&log);
        let (ends, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            written.write_all(&mut out);
            drop(ends);
        });
        (Arc::clone(&log), LogWriter { log, ended })
    }

    /// Begins the line of a request.
    pub(super) fn begin(self: &Arc<Self>, exchange: &Exchange) -> Record {
        let mut line = self.state().spares.pop().unwrap_or_default();
        let request = exchange.request();
        // A string takes all there is.
        let _ = write!(line, "{} - - [{}] \"", exchange.peer().ip(), ClfTime(SystemTime::now()));
        let (method, path) = (Quoted(request.method()), Quoted(masked_target(request.path())));
        let _ = write!(line, "{method} {path} {}\"", request.version());
        Record { line: Some((Arc::clone(self), line, Instant::now())), ..Record::none() }
    }

    fn push(&self, line: String) {
        let mut state = self.state();
        if state.waiting.len() + line.len() > WAITING_OCTETS_MAX {
            state.left_out += 1;
        } else {
            state.waiting.extend_from_slice(line.as_bytes());
        }
        if state.spares.len() < SPARES_MAX {
            let mut spare = line;
            spare.clear();
            state.spares.push(spare);
        }
        drop(state);
        self.is_ready.notify_one();
    }

    /// Writes what comes until the log is closed. When it cannot be written there is nobody to tell.
    fn write_all(&self, out: &mut impl Write) {
        let mut lines = Vec::new();
        loop {
            let (left_out, is_closed) = self.take(&mut lines);
            let _ = out.write_all(&lines);
            if left_out > 0 {
                let _ = writeln!(out, "{left_out} requests are left out: the log is read too slowly");
            }
            let _ = out.flush();
            if is_closed {
                return;
            }
            lines.clear();
        }
    }

    /// Waits for lines, or the end of them.
    fn take(&self, lines: &mut Vec<u8>) -> (u64, bool) {
        let state = self.state();
        let waits = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let mut state = self.is_ready.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut state.waiting, lines);
        (mem::take(&mut state.left_out), state.is_closed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.log.state().is_closed = true;
        self.log.is_ready.notify_one();
        // Whoever reads the log and has stopped to do so does not keep the program from ending.
        let _ = self.ended.recv_timeout(LAST_LINES_MAX);
    }
}

impl Record {
    /// Of a request that is not written down.
    pub(super) const fn none() -> Self {
        Self { line: None, status: None, octets: 0, is_whole: false }
    }

    /// The answer has this status, and so many octets of content are sent.
    pub(super) fn set(&mut self, status: Status, octets: u64) {
        (self.status, self.octets) = (Some(status), octets);
    }

    /// The answer has this status; what is sent is still to come.
    pub(super) fn of(&mut self, status: Status) -> &mut Self {
        self.set(status, 0);
        self
    }

    /// So many octets of content more.
    pub(super) fn add(&mut self, octets: u64) {
        self.octets += octets;
    }

    /// The request has ended, its answer whole or not.
    pub(super) fn end(mut self, is_whole: bool) {
        self.is_whole = is_whole;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let Some((log, mut line, began)) = self.line.take() else { return };
        let status = self.status.map_or(0, Status::code);
        let seconds = began.elapsed().as_secs_f64();
        let end = if self.is_whole { "" } else { " cut off" };
        let _ = writeln!(line, " {status} {} {seconds:.6}{end}", self.octets);
        log.push(line);
    }
}

/// `21/Nov/2026:15:14:35 +0000`.
struct ClfTime(SystemTime);

impl fmt::Display for ClfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parts of `Sat, 21 Nov 2026 15:14:35 GMT`.
        let mut date = [0; 29];
        write!(&mut date[..], "{}", httpdate::HttpDate::from(self.0)).map_err(|_| fmt::Error)?;
        let date = std::str::from_utf8(&date).map_err(|_| fmt::Error)?;
        write!(f, "{}/{}/{}:{} +0000", &date[5..7], &date[8..11], &date[12..16], &date[17..25])
    }
}

/// Text that cannot end its quotes, or the line.
struct Quoted<T>(T);

impl<T: fmt::Display> fmt::Display for Quoted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaped(f), "{}", self.0)
    }
}

struct Escaped<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '"' | '\\' => write!(self.0, "\\{character}")?,
                // The last stands for a secret.
                ' '..='~' | '…' => self.0.write_char(character)?,
                _ => {
                    let mut octets = [0; 4];
                    character
                        .encode_utf8(&mut octets)
                        .bytes()
                        .try_for_each(|octet| write!(self.0, "\\x{octet:02x}"))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written, for a test to look at.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(octets)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(log: &Arc<Log>, line: &str) -> Record {
        Record { line: Some((Arc::clone(log), line.to_owned(), Instant::now())), ..Record::none() }
    }

    #[test]
    fn every_request_has_a_line_by_the_end() {
        let written = Written::default();
        let (log, writer) = Log::to(written.clone());
        let mut first = record(&log, "first");
        first.set(Status::OK, 10);
        first.add(5);
        first.end(true);
        drop(record(&log, "second"));
        drop(writer);
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with("first 200 15 0.0") && !lines[0].contains("cut off"), "{text}");
        assert!(lines[1].starts_with("second 0 0 0.0") && lines[1].ends_with(" cut off"), "{text}");
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_left_out_is_counted() {
        let log = Arc::new(Log { state: Mutex::default(), is_ready: Condvar::new() });
        let line = "x".repeat(1000);
        for _ in 0..2 * WAITING_OCTETS_MAX / 1000 {
            drop(record(&log, &line));
        }
        let mut state = log.state();
        let (waiting, left_out) = (state.waiting.len(), state.left_out);
        assert!(waiting <= WAITING_OCTETS_MAX && left_out > 1000, "{waiting}, {left_out}");
        assert_eq!(state.spares.len(), SPARES_MAX);
        state.is_closed = true;
        drop(state);
        let mut written = Vec::new();
        log.write_all(&mut written);
        let last = format!("{left_out} requests are left out: the log is read too slowly\n");
        assert!(written.ends_with(last.as_bytes()));
    }

    #[test]
    fn times_and_quotes_have_their_form() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(ClfTime(time).to_string(), "06/Nov/1994:08:49:37 +0000");
        assert_eq!(Quoted("/a\"b\\c\n\u{e9}").to_string(), "/a\\\"b\\\\c\\x0a\\xc3\\xa9");
        assert_eq!(Quoted(masked_target("/a?b=s3cret")).to_string(), "/a?b=…");
    }
}
