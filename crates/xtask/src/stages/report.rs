//! Stages run in order, each timed; the first failure stops them; a table closes the run.
//!
//! Beside the time on the wall stands what the processors spent on the programs of a stage, since two builds
//! share the cores with whatever else runs, and the room on the disk: tests of a store fail for reasons hard
//! to see once it is full.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use alula_tidy::repository_root;
use anyhow::Result;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::statvfs::statvfs;

use super::tally::Tally;

/// What has run so far.
pub(crate) struct Report {
    rows: Vec<Row>,
    tally: Tally,
    /// The room on the disk at the beginning.
    free: Option<u64>,
}

struct Row {
    stage: &'static str,
    time: Duration,
    cpu: Duration,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    NotRun,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), tally: Tally::default(), free: free_bytes() }
    }

    /// Runs the stage unless an earlier one failed.
    pub(crate) fn stage(&mut self, stage: &'static str, run: impl FnOnce(&mut Tally) -> Result<()>) {
        if self.has_failed() {
            let (time, cpu) = (Duration::ZERO, Duration::ZERO);
            self.rows.push(Row { stage, time, cpu, outcome: Outcome::NotRun });
            return;
        }
        println!("\n=== {stage}");
        let (start, spent) = (Instant::now(), cpu_of_children());
        let result = run(&mut self.tally);
        let (time, cpu) = (start.elapsed(), cpu_of_children().saturating_sub(spent));
        if let Err(error) = &result {
            println!("{stage}: {error:#}");
        }
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        println!("=== {stage}: {outcome} in {:.1} s", time.as_secs_f64(), outcome = outcome.name());
        self.rows.push(Row { stage, time, cpu, outcome });
    }

    /// Prints the table and the sum of all tests; the exit code says whether every stage passed.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n{:<12} {:>9} {:>9}  result", "stage", "seconds", "CPU");
        for row in &self.rows {
            print_row(row);
        }
        let time = self.rows.iter().map(|row| row.time).sum();
        let cpu = self.rows.iter().map(|row| row.cpu).sum();
        print_row(&Row { stage: "all", time, cpu, outcome: self.outcome() });
        if let (Some(before), Some(after)) = (self.free, free_bytes()) {
            println!("disk: {:.1} GiB free before, {:.1} GiB after", gib(before), gib(after));
        }
        println!("\n{}", self.tally);
        if self.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    fn outcome(&self) -> Outcome {
        if self.has_failed() { Outcome::Failed } else { Outcome::Passed }
    }

    fn has_failed(&self) -> bool {
        self.rows.iter().any(|row| row.outcome == Outcome::Failed)
    }
}

fn print_row(row: &Row) {
    let (time, cpu) = (row.time.as_secs_f64(), row.cpu.as_secs_f64());
    println!("{:<12} {time:>9.1} {cpu:>9.1}  {}", row.stage, row.outcome.name());
}

/// The time that processors have spent on programs which this one has started and waited for.
fn cpu_of_children() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Duration::ZERO };
    let micros = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()).unsigned_abs();
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

/// The room that is left for files of this repository.
fn free_bytes() -> Option<u64> {
    let disk = statvfs(&repository_root()).ok()?;
    Some(disk.blocks_available() * disk.fragment_size())
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::NotRun => "not run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stage_stops_those_after_it() {
        let mut report = Report::new();
        let mut third_ran = false;
        report.stage("first", |_| Ok(()));
        report.stage("second", |_| anyhow::bail!("broken"));
        report.stage("third", |_| {
            third_ran = true;
            Ok(())
        });
        assert!(!third_ran);
        assert!(report.has_failed());
        assert_eq!(report.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn a_stage_is_charged_with_its_programs() {
        let mut report = Report::new();
        report.stage("busy", |_| {
            let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
            assert!(std::process::Command::new("sh").args(["-c", spin]).status()?.success());
            Ok(())
        });
        assert!(report.rows[0].cpu > Duration::ZERO);
        assert!(report.free.is_some_and(|bytes| bytes > 0));
    }
}
