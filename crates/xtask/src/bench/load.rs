//! The loads: h2load for both versions, wrk for HTTP/1.1, on the core of the server.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::program::{Server, Under, args, output, output_within};
use crate::command::needed_program;

/// The time in which a second of wrk has ended and its figures are worked out, or never will be.
const WRK_MAX: Duration = Duration::from_secs(15);

/// The figures of wrk. Times are in microseconds, and there with `--latency`.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) requests: u64,
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Has h2load make so many requests on so many connections, so many in flight on each: requests per second.
///
/// # Errors
/// When not all were answered, and well.
pub(super) fn h2load(
    server: &Server,
    is_http1: bool,
    [requests, connections, in_flight]: [u64; 3],
    target: &[&str],
) -> Result<f64> {
    let [n, c, m] = [requests, connections, in_flight].map(|number| number.to_string());
    let http1 = is_http1.then_some("--h1");
    let all = ["-n", &n, "-c", &c, "-m", &m].into_iter().chain(http1).chain(target.iter().copied());
    let program = needed_program("h2load")?;
    let (printed, _) = output(Under::OneCore.command(&program, &args(all), server.core)?)?;
    h2load_told(&printed, requests)
        .with_context(|| format!("not all of {requests} were answered:\n{printed}"))
}

/// Requests per second, if so many were answered, and well.
fn h2load_told(printed: &str, requests: u64) -> Option<f64> {
    let succeeded = printed.contains(&format!(" {requests} succeeded, 0 failed, 0 errored"));
    let line = printed.lines().find_map(|line| line.strip_prefix("finished in "))?;
    let (_, rest) = line.split_once(", ")?;
    rest.split_once(" req/s")?.0.parse().ok().filter(|_| succeeded)
}

/// The command line of wrk with one thread.
pub(super) fn wrk_args(
    connections: u64,
    seconds: u64,
    script: Option<&Path>,
    url: &str,
) -> Vec<std::ffi::OsString> {
    let mut all = args(["-t", "1", "-d", &seconds.to_string(), "-c", &connections.to_string(), "--latency"]);
    if let Some(script) = script {
        all.extend(["-s".into(), script.into()]);
    }
    all.push(url.into());
    all
}

/// Runs wrk.
///
/// # Errors
/// When something was not answered well, or wrk does not end: it divides the microseconds of the run by the
/// requests of a connection, and steps through its figures by the quotient, which is nothing above a million
/// requests per second on one.
pub(super) fn wrk(command: Command) -> Result<Run> {
    let (printed, _) = output_within(command, WRK_MAX)?;
    let is_whole = !printed.contains("Socket errors") && !printed.contains("Non-2xx");
    ensure!(is_whole, "not all were answered well:\n{printed}");
    wrk_told(&printed).with_context(|| format!("wrk told too little:\n{printed}"))
}

fn wrk_told(printed: &str) -> Option<Run> {
    let within = |share: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(share));
        line.and_then(|line| micros(line.trim())).unwrap_or(f64::NAN)
    };
    let (requests, _) = printed.lines().find_map(|line| line.trim().split_once(" requests in "))?;
    let per_second = printed.lines().find_map(|line| line.strip_prefix("Requests/sec:"))?;
    Some(Run {
        requests: requests.parse().ok()?,
        per_second: per_second.trim().parse().ok()?,
        p50: within("50%"),
        p99: within("99%"),
    })
}

/// Reads times such as `605.00us`, `1.20ms` or `1.02s`.
fn micros(text: &str) -> Option<f64> {
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
    let (number, unit) =
        units.into_iter().find_map(|(unit, micros)| Some((text.strip_suffix(unit)?, micros)))?;
    number.parse::<f64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_load_that_was_answered_counts() {
        let printed = "finished in 1.50s, 2000.50 req/s, 1.1MB/s\n\
            requests: 3000 total, 3000 started, 3000 done, 3000 succeeded, 0 failed, 0 errored, 0 timeout\n";
        assert_eq!(h2load_told(printed, 3000), Some(2000.5));
        assert_eq!(h2load_told(printed, 4000), None);
        assert_eq!(h2load_told(&printed.replace("0 failed", "1 failed"), 3000), None);
    }

    #[test]
    fn figures_of_wrk_are_read() {
        let told = "  Latency Distribution\n     50%  605.00us\n     75%  0.90ms\n     90%    1.00ms\n     99%    1.50ms\n  \
                    48123 requests in 1.00s, 53.11MB read\nRequests/sec:  48100.20\n";
        let run = Run { requests: 48_123, per_second: 48_100.2, p50: 605.0, p99: 1500.0 };
        assert_eq!(wrk_told(told), Some(run));
        assert_eq!(wrk_told("Requests/sec: 1"), None);
        assert_eq!(micros("1.02s"), Some(1_020_000.0));
    }
}
