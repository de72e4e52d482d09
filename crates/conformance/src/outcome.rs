//! A program that runs to its end within a stated time: exit code, output, and what was asked of it.

use std::fmt;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
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
    command.stdin(Stdio::null());
    finish(command, limit, |_| None)
}

/// As [`run`], with these octets as its standard input.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_with_input(command: &mut Command, input: &[u8], limit: Duration) -> Outcome {
    let input = input.to_vec();
    command.stdin(Stdio::piped());
    finish(command, limit, |child| {
        let mut stdin = child.stdin.take()?;
        // A program that does not want all of it closes the pipe.
        Some(thread::spawn(move || drop(stdin.write_all(&input))))
    })
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
        writeln!(f, "--- standard output ({} octets)\n{}", stdout.len(), beginning(&self.text()))?;
        write!(f, "--- standard error\n{}", beginning(stderr))
    }
}

/// The command as one would type it.
#[must_use]
pub fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn finish(
    command: &mut Command,
    limit: Duration,
    feed: impl FnOnce(&mut Child) -> Option<JoinHandle<()>>,
) -> Outcome {
    let description = describe(command);
    let start = Instant::now();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().unwrap_or_else(|error| panic!("`{description}` cannot be started: {error}"));
    let feeder = feed(&mut child);
    let stdout = collect(child.stdout.take().expect("it is piped"));
    let stderr = collect(child.stderr.take().expect("it is piped"));
    let status = poll::within(limit, || child.try_wait().expect("a child can be waited for"));
    if status.is_none() {
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    }
    let time = start.elapsed();
    feeder.map(|feeder| feeder.join().expect("writing does not panic"));
    let stdout = stdout.join().expect("reading does not panic");
    let stderr = String::from_utf8_lossy(&stderr.join().expect("reading does not panic")).into_owned();
    let code = status.and_then(|status| status.code());
    let outcome = Outcome { command: description, code, stdout, stderr, time };
    assert!(status.is_some(), "it did not end within {limit:?} and was killed:\n{outcome}");
    outcome
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        // What came before a broken pipe is what there is to show.
        let _ = from.read_to_end(&mut all);
        all
    })
}

/// Enough for a person to see what went wrong.
fn beginning(text: &str) -> &str {
    const SHOWN_MAX: usize = 4_000;
    text.char_indices().nth(SHOWN_MAX).map_or(text, |(end, _)| &text[..end])
}
