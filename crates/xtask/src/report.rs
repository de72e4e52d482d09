//! Stages run in order, each timed; the first failure stops them; a table closes the run.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::tally::Tally;

/// What has run so far.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    tally: Tally,
}

struct Row {
    stage: &'static str,
    time: Duration,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    NotRun,
}

impl Report {
    /// Runs the stage unless an earlier one failed.
    pub(crate) fn stage(&mut self, stage: &'static str, run: impl FnOnce(&mut Tally) -> Result<()>) {
        if self.has_failed() {
            self.rows.push(Row { stage, time: Duration::ZERO, outcome: Outcome::NotRun });
            return;
        }
        println!("\n=== {stage}");
        let start = Instant::now();
        let result = run(&mut self.tally);
        let time = start.elapsed();
        if let Err(error) = &result {
            println!("{stage}: {error:#}");
        }
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        println!("=== {stage}: {outcome} in {:.1} s", time.as_secs_f64(), outcome = outcome.name());
        self.rows.push(Row { stage, time, outcome });
    }

    /// Prints the table and the sum of all tests; the exit code says whether every stage passed.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n{:<12} {:>9}  result", "stage", "seconds");
        for row in &self.rows {
            println!("{:<12} {:>9.1}  {}", row.stage, row.time.as_secs_f64(), row.outcome.name());
        }
        let total: Duration = self.rows.iter().map(|row| row.time).sum();
        println!("{:<12} {:>9.1}  {}", "all", total.as_secs_f64(), self.outcome().name());
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
        let mut report = Report::default();
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
}
