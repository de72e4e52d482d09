//! Lines about requests on stderr.
//!
//! Lines are gathered in memory and written by a thread of their own, so that a slow reader of the log slows
//! no request. When it is too slow, lines are left out and counted. A line allocates nothing once the buffers
//! are warm.
//!
//! Rule: all text of peers in a line is [`Escaped`], so that it ends neither its quotes nor the line.

use std::{
    fmt,
    io::{self, Write},
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, SystemTime},
};

/// The most bytes that wait to be written.
const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// The time limit for writing the last lines.
const LAST_LINES_MAX: Duration = Duration::from_secs(2);

/// Lines on their way to the writing thread; clones share it.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    is_ready: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    left_out: u64,
    is_closed: bool,
}

/// The writing thread; dropping it waits for the last lines.
pub(crate) struct LineWriter {
    shared: Arc<Shared>,
    /// The receiver that is disconnected once the last line is written.
    ended: Receiver<()>,
}

impl Lines {
    /// Creates lines to stderr, and their writing thread.
    pub(crate) fn to_stderr() -> (Self, LineWriter) {
        Self::to(io::stderr())
    }

    pub(crate) fn to(mut out: impl Write + Send + 'static) -> (Self, LineWriter) {
        let shared = Arc::<Shared>::default();
        let written = Arc::clone(&shared);
        let (ends, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            written.write_all(&mut out);
            drop(ends);
        });
        (Self(Arc::clone(&shared)), LineWriter { shared, ended })
    }

    /// Appends the lines that `write` writes, which stay together or are dropped together.
    pub(crate) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.0.state();
        let before = state.waiting.len();
        write(&mut state.waiting);
        if state.waiting.len() > WAITING_BYTES_MAX {
            // The lines of a request are left out together: half of one would mislead.
            state.waiting.truncate(before);
            state.left_out += 1;
        }
        drop(state);
        self.0.is_ready.notify_one();
    }
}

impl Shared {
    /// Writes lines until the queue is closed. When it cannot be written there is nobody to tell.
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

    /// Waits for lines, or for the end.
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

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.is_ready.notify_one();
        // A reader of the log that has stopped reading does not keep the program from ending.
        let _ = self.ended.recv_timeout(LAST_LINES_MAX);
    }
}

/// A time like `21/Nov/2026:15:14:35 +0000`.
pub(super) struct ClfTime(pub(super) SystemTime);

impl fmt::Display for ClfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parts of `Sat, 21 Nov 2026 15:14:35 GMT`.
        let mut date = [0; 29];
        write!(&mut date[..], "{}", httpdate::HttpDate::from(self.0)).map_err(|_| fmt::Error)?;
        let date = std::str::from_utf8(&date).map_err(|_| fmt::Error)?;
        write!(f, "{}/{}/{}:{} +0000", &date[5..7], &date[8..11], &date[12..16], &date[17..25])
    }
}

/// Bytes that end neither quotes nor a line: all but visible ASCII is shown as `\xHH`.
pub(super) struct Escaped<'a>(pub(super) &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            chunk.valid().chars().try_for_each(|character| write_character(f, character))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        })
    }
}

fn write_character(f: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
    match character {
        '"' | '\\' => write!(f, "\\{character}"),
        // The last stands for a secret.
        ' '..='~' | '…' => fmt::Write::write_char(f, character),
        _ => {
            let bytes = &mut [0; 4];
            character.encode_utf8(bytes).bytes().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that were written, for a test to look at.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_line_is_there_by_the_end() {
        let written = Written::default();
        let (lines, writer) = Lines::to(written.clone());
        lines.push(|out| out.extend_from_slice(b"first\n"));
        lines.clone().push(|out| out.extend_from_slice(b"second\n"));
        drop(writer);
        assert_eq!(*written.0.lock().unwrap(), b"first\nsecond\n");
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_left_out_is_counted() {
        let lines = Lines(Arc::default());
        let line = "x".repeat(1000);
        for _ in 0..2 * WAITING_BYTES_MAX / 1000 {
            lines.push(|out| out.extend_from_slice(line.as_bytes()));
        }
        let mut state = lines.0.state();
        let (waiting, left_out) = (state.waiting.len(), state.left_out);
        assert!(waiting <= WAITING_BYTES_MAX && left_out > 1000, "{waiting}, {left_out}");
        state.is_closed = true;
        drop(state);
        let mut written = Vec::new();
        lines.0.write_all(&mut written);
        let last = format!("{left_out} requests are left out: the log is read too slowly\n");
        assert!(written.ends_with(last.as_bytes()));
    }

    #[test]
    fn times_and_text_have_their_form() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(ClfTime(time).to_string(), "06/Nov/1994:08:49:37 +0000");
        let hostile = b"/a\"b\\c\n\r\t\x1b[31m\x7f \xc3\xa9 \xff\xe2\x80 \xe2\x80\xa6 \xc2\x9b \xe2\x80\xae";
        let shown = r#"/a\"b\\c\x0a\x0d\x09\x1b[31m\x7f \xc3\xa9 \xff\xe2\x80 … \xc2\x9b \xe2\x80\xae"#;
        assert_eq!(Escaped(hostile).to_string(), shown);
    }
}
