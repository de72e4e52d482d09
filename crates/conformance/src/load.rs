//! h2load against a server, and what it says about its requests.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::outcome;

/// So much load.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// Requests in all.
    pub requests: u32,
    /// Connections at the same time.
    pub connections: u32,
    /// Requests in flight on each connection.
    pub streams: u32,
    /// A file whose bytes each request carries; GET without it.
    pub body: Option<&'a Path>,
}

/// `requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    /// Requests asked for.
    pub total: u32,
    /// Answers with a status below 400.
    pub succeeded: u32,
    /// Everything else, broken connections among it.
    pub failed: u32,
}

/// Runs h2load against the URL.
///
/// # Panics
/// When h2load fails, prints no counts or takes more than two minutes.
#[must_use]
pub fn run(load: Load<'_>, url: &str) -> Counts {
    run_command(command(load, url), |_| ())
}

/// As [`run`], with more options.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_with(load: Load<'_>, url: &str, options: &[String]) -> Counts {
    let mut command = command(load, url);
    command.args(options);
    run_command(command, |_| ())
}

/// As [`run`]; `at` is called with the percentage each time another tenth of the requests is done.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_watched(load: Load<'_>, url: &str, at: impl FnMut(u32) + Send) -> Counts {
    run_command(command(load, url), at)
}

fn command(load: Load<'_>, url: &str) -> Command {
    let mut command = Command::new("h2load");
    for (name, value) in [("-n", load.requests), ("-c", load.connections), ("-m", load.streams)] {
        command.arg(name).arg(value.to_string());
    }
    if let Some(body) = load.body {
        command.arg("-d").arg(body);
    }
    command.arg(url);
    command
}

fn run_command(mut command: Command, mut at: impl FnMut(u32) + Send) -> Counts {
    let on_line = |line: &str| progress(line).map_or((), &mut at);
    let outcome = outcome::run_watched(&mut command, Duration::from_secs(120), on_line).expect_success();
    Counts::read(&outcome.text()).unwrap_or_else(|| panic!("h2load printed no counts:\n{outcome}"))
}

/// `progress: 20% done`.
fn progress(line: &str) -> Option<u32> {
    line.strip_prefix("progress: ")?.strip_suffix("% done")?.parse().ok()
}

impl Counts {
    /// Every request of this load, answered.
    #[must_use]
    pub const fn all_succeeded(load: Load<'_>) -> Self {
        Self { total: load.requests, succeeded: load.requests, failed: 0 }
    }

    fn read(output: &str) -> Option<Self> {
        let line = output.lines().find_map(|line| line.strip_prefix("requests: "))?;
        let count = |unit: &str| -> Option<u32> {
            let part = line.split(", ").find_map(|part| part.strip_suffix(unit))?;
            part.trim().parse().ok()
        };
        Some(Self { total: count(" total")?, succeeded: count(" succeeded")?, failed: count(" failed")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_progress() {
        assert_eq!(progress("progress: 20% done"), Some(20));
        assert_eq!(progress("finished in 1.00s"), None);
    }

    #[test]
    fn reads_the_counts() {
        let output = "finished in 1.00s\n\
            requests: 20 total, 20 started, 19 done, 18 succeeded, 2 failed, 1 errored, 0 timeout\n";
        assert_eq!(Counts::read(output), Some(Counts { total: 20, succeeded: 18, failed: 2 }));
        assert_eq!(Counts::read("could not connect"), None);
    }
}
