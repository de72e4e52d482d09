//! A program that runs to its end within a stated time: exit code, output, and what was asked of it.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::poll;

/// What became of a program.
pub struct Outcome {
    command: String,
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// All it wrote to standard output.
    pub stdout: Vec<u8>,
    /// All it wrote to standard error.
    pub stderr: String,
    /// From start to end.
    pub time: Duration,
}

/// Runs the command without input.
///
/// # Panics
/// When it cannot be started or has not ended within `limit`; it is killed then, and its output shown.
#[must_use]
pub fn run(command: &mut Command, limit: Duration) -> Outcome {
    finish(command, &[], limit, |_| ())
}

/// As [`run`], with these bytes as its standard input.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_with_input(command: &mut Command, input: &[u8], limit: Duration) -> Outcome {
    finish(command, input, limit, |_| ())
}

/// As [`run`]; each line of its standard output is shown to `on_line` when it comes.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_watched(command: &mut Command, limit: Duration, on_line: impl FnMut(&str) + Send) -> Outcome {
    finish(command, &[], limit, on_line)
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Itself, if the exit code is 0.
    ///
    /// # Panics
    /// With everything known about the program when it is not.
    #[must_use]
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!(self.code == Some(0), "{self}");
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, code, stdout, stderr, time } = self;
        writeln!(f, "`{command}` ended with {code:?} after {:.2} s", time.as_secs_f64())?;
        writeln!(f, "--- standard output ({} bytes)\n{}", stdout.len(), beginning(&self.text()))?;
        write!(f, "--- standard error\n{}", beginning(stderr))
    }
}

/// The command as one would type it.
#[must_use]
pub fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn finish(command: &mut Command, input: &[u8], limit: Duration, on_line: impl FnMut(&str) + Send) -> Outcome {
    let description = describe(command);
    let start = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().unwrap_or_else(|error| panic!("`{description}` cannot be started: {error}"));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (status, stdout, stderr) = thread::scope(|scope| {
        // A program that does not want all of it closes the pipe.
        scope.spawn(|| stdin.map(|mut pipe| drop(pipe.write_all(input))));
        let stdout = scope.spawn(|| collect(stdout.expect("it is piped"), on_line));
        let stderr = scope.spawn(|| collect(stderr.expect("it is piped"), |_| ()));
        let status = wait(&mut child, limit);
        let text = |thread: ScopedJoinHandle<'_, Vec<u8>>| thread.join().expect("reading does not panic");
        (status, text(stdout), text(stderr))
    });
    let outcome = Outcome {
        command: description,
        code: status.and_then(|status| status.code()),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        time: start.elapsed(),
    };
    assert!(status.is_some(), "it did not end within {limit:?} and was killed:\n{outcome}");
    outcome
}

/// Waits for the end, and brings it about when it does not come in time.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let status = poll::within(limit, || child.try_wait().expect("a child can be waited for"));
    if status.is_none() {
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    }
    status
}

/// All there is until the pipe closes or breaks.
fn collect(from: impl Read, mut on_line: impl FnMut(&str)) -> Vec<u8> {
    let (mut from, mut all) = (BufReader::new(from), Vec::new());
    loop {
        let start = all.len();
        if from.read_until(b'\n', &mut all).unwrap_or(0) == 0 {
            return all;
        }
        on_line(String::from_utf8_lossy(&all[start..]).trim_end());
    }
}

/// Enough for a person to see what went wrong.
fn beginning(text: &str) -> &str {
    const SHOWN_MAX: usize = 4_000;
    text.char_indices().nth(SHOWN_MAX).map_or(text, |(end, _)| &text[..end])
}
