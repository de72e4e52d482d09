//! The flushes of a server under PUT, as strace counts them.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::peers::Driver;
use crate::bench::program::Server;
use crate::command::needed_program;

/// Writes of each connection. Its bucket is told its properties before that, which is one more write of
/// `alula store`.
const STEPS: u64 = 100;

/// The time that strace may take to begin.
const BEGIN_MAX: Duration = Duration::from_secs(10);

/// Counts the flushes of a server per hundred writes on so many connections.
#[expect(clippy::disallowed_methods, reason = "another program begins")]
pub(super) fn count(driver: &Driver<'_>, server: &Server, connections: u64) -> Result<f64> {
    let file = driver.folder().join("strace");
    let calls = "trace=fsync,fdatasync,msync,sync_file_range";
    let mut strace = Command::new(needed_program("strace")?)
        .args(["-f", "-qq", "-e", calls, "-p", &server.id().to_string(), "-o"])
        .arg(&file)
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    while !is_traced(server.id())? {
        ensure!(start.elapsed() < BEGIN_MAX, "strace does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let bucket = format!("flushed-{connections}");
    let put = driver.put(server.port, connections, STEPS, &bucket);
    let ended = Command::new("kill").args(["-INT", &strace.id().to_string()]).status()?;
    strace.wait()?;
    put?;
    ensure!(ended.success(), "strace had ended");
    let told = fs::read_to_string(&file)?;
    Ok(flushed(&told) as f64 * 100.0 / (connections * STEPS) as f64)
}

/// Returns true once every thread of the process is traced.
fn is_traced(id: u32) -> Result<bool> {
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        if tracer.context("TracerPid is told")?.trim() == "0" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The calls that flush; each is there once, with its beginning.
fn flushed(told: &str) -> usize {
    let begins = |line: &&str| ["fsync(", "fdatasync(", "msync("].iter().any(|call| line.contains(call));
    told.lines().filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_flush_are_counted_once() {
        let told = "7 fdatasync(5) = 0\n8 fsync(6 <unfinished ...>\n7 <... fsync resumed>) = 0\n7 sync_file_range(5, 0, 1, 2) = 0\n";
        assert_eq!(flushed(told), 2);
    }
}
