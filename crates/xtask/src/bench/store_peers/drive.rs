//! The loads: wrk reads, `store-load` of `crates/bench` writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::super::program::output;
use super::cell::{Cell, Load};
use crate::command::needed_program;

/// The clients that write what is read, and the objects of each: 16 000 in all, which nginx can keep open.
const FILLING: u64 = 8;
const KEYS: u64 = 2000;
const BUCKET: &str = "read";

/// Writes of a turn, and seconds of a turn of reads.
const WRITES: u64 = 8000;
const READ_SECONDS: u64 = 2;

pub(super) struct Driver {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    /// Turns are shorter by this.
    pub(super) divisor: u64,
}

/// A turn, as the load saw it. Times are in microseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) requests: f64,
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// Processor time of the load.
    pub(super) load: Duration,
}

impl Driver {
    /// Writes the objects that are read as files.
    pub(super) fn export(&self, folder: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("export").arg(folder).args(keys());
        output(command).map(drop)
    }

    /// Writes them to a server.
    pub(super) fn fill(&self, port: u16) -> Result<()> {
        let mut play = self.play(port);
        play.args(["--mix", "get", "--steps", "1"]).args(keys());
        output(play).map(drop)
    }

    /// The path of an object that is read.
    pub(super) fn path(number: u64) -> String {
        format!("/buckets/{BUCKET}-{}/keys/K{:08}", number % FILLING, number / FILLING)
    }

    pub(super) fn drive(&self, port: u16, cell: Cell, round: usize) -> Result<Run> {
        let before = children()?;
        let mut run = match cell.load {
            Load::Get => self.read(port, cell.connections)?,
            Load::Put => self.write(port, cell, round, "put", 1)?,
            // A step writes three times in two.
            Load::All => self.write(port, cell, round, "all", 2)?,
        };
        run.load = children()? - before;
        Ok(run)
    }

    /// Writes new objects of one connection each, for so many steps.
    pub(super) fn put(&self, port: u16, connections: u64, steps: u64, bucket: &str) -> Result<()> {
        let mut play = self.play(port);
        play.args(["--mix", "put", "--clients", &connections.to_string(), "--steps", &steps.to_string()]);
        play.args(["--bucket", bucket]);
        output(play).map(drop)
    }

    fn play(&self, port: u16) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["play", &format!("127.0.0.1:{port}"), "--no-queries", "--json"]);
        command
    }

    fn write(&self, port: u16, cell: Cell, round: usize, mix: &str, shorter: u64) -> Result<Run> {
        let steps = (WRITES / shorter / self.divisor / cell.connections).max(1);
        let mut play = self.play(port);
        play.args(["--mix", mix, "--clients", &cell.connections.to_string(), "--steps", &steps.to_string()]);
        play.args(["--bucket", &format!("{mix}-{}-{round}", cell.connections)]);
        let (json, _) = output(play)?;
        played(&json).with_context(|| format!("the load told {json}"))
    }

    fn read(&self, port: u16, connections: u64) -> Result<Run> {
        let script = self.folder.join("read.lua");
        fs::write(&script, lua())?;
        let mut wrk = Command::new(needed_program("wrk")?);
        let seconds = (READ_SECONDS / self.divisor).max(1);
        wrk.args(["-t", "1", "-c", &connections.to_string(), "-d", &seconds.to_string(), "--latency", "-s"]);
        wrk.arg(script).arg(format!("http://127.0.0.1:{port}/"));
        let (printed, _) = output(wrk)?;
        let is_whole = !printed.contains("Socket errors") && !printed.contains("Non-2xx");
        ensure!(is_whole, "not all were answered well:\n{printed}");
        wrk_told(&printed).with_context(|| format!("wrk told too little:\n{printed}"))
    }
}

fn keys() -> Vec<String> {
    let flags = ["--clients", &FILLING.to_string(), "--keys", &KEYS.to_string(), "--bucket", BUCKET];
    flags.map(str::to_owned).to_vec()
}

/// Requests for all objects, written before the run, in an order that jumps through them.
fn lua() -> String {
    let all = FILLING * KEYS;
    format!(
        "local requests, place = {{}}, 0
init = function(args)
  for number = 0, {all} - 1 do
    requests[number + 1] = wrk.format(nil, string.format(\"/buckets/{BUCKET}-%d/keys/K%08d\", number % {FILLING}, \
         math.floor(number / {FILLING})))
  end
end
request = function()
  place = (place + 7919) % {all}
  return requests[place + 1]
end
"
    )
}

/// The processor time of programs that have ended.
fn children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

/// The figures in a line of `store-load`; of several kinds of requests the percentiles are those of the slowest kind.
fn played(json: &str) -> Option<Run> {
    let numbers = |name: &str| {
        let name = format!("\"{name}\":");
        let parts = json.split(&name).skip(1).map(|rest| rest.split([',', '}']).next());
        parts.filter_map(|number| number?.parse::<f64>().ok()).collect::<Vec<_>>()
    };
    let most = |name: &str| numbers(name).into_iter().reduce(f64::max);
    Some(Run {
        requests: *numbers("requests").first()?,
        per_second: *numbers("per_second").first()?,
        p50: most("p50")?,
        p99: most("p99")?,
        load: Duration::ZERO,
    })
}

/// The figures that wrk tells with `--latency`.
fn wrk_told(printed: &str) -> Option<Run> {
    let mut lines = printed.lines().map(str::trim);
    let within = |share: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(share))?;
        micros(line.trim())
    };
    let (requests, _) = lines.find_map(|line| line.split_once(" requests in "))?;
    let per_second = lines.find_map(|line| line.strip_prefix("Requests/sec:"))?;
    Some(Run {
        requests: requests.parse().ok()?,
        per_second: per_second.trim().parse().ok()?,
        p50: within("50%")?,
        p99: within("99%")?,
        load: Duration::ZERO,
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
    fn figures_of_wrk_are_read() {
        let told = "  Latency Distribution\n     50%  605.00us\n     75%  0.90ms\n     90%    1.00ms\n     99%    1.50ms\n  \
                    48123 requests in 1.00s, 53.11MB read\nRequests/sec:  48100.20\n";
        let run =
            Run { requests: 48_123.0, per_second: 48_100.2, p50: 605.0, p99: 1500.0, load: Duration::ZERO };
        assert_eq!(wrk_told(told), Some(run));
        assert_eq!(wrk_told("Requests/sec: 1"), None);
        assert_eq!(micros("1.02s"), Some(1_020_000.0));
    }

    #[test]
    fn figures_of_the_load_are_read() {
        let json = r#"{"clients":12,"requests":30,"seconds":0.5,"per_second":60.0,"get":{"requests":20,"p50":3.0,"p99":9.0,"p999":9.0,"max":9.0},"put":{"requests":10,"p50":30.0,"p99":40.5,"p999":41.0,"max":41.0}}"#;
        let run = Run { requests: 30.0, per_second: 60.0, p50: 30.0, p99: 40.5, load: Duration::ZERO };
        assert_eq!(played(json), Some(run));
        assert_eq!(played("{}"), None);
    }

    #[test]
    fn paths_are_those_that_the_load_writes() {
        assert_eq!(Driver::path(FILLING * 3 + 2), "/buckets/read-2/keys/K00000003");
    }
}
