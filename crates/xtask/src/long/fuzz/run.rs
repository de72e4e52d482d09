//! Running one target: where it reads and writes, and what it found.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::workspace::folder;

/// An input may take so many seconds, and a target so many megabytes: more is a finding.
const LIMITS: [&str; 2] = ["-timeout=10", "-rss_limit_mb=1024"];

/// How much of what a target said is shown when it failed.
const LINES_SHOWN: usize = 30;

/// What came of running a target.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Outcome {
    pub(super) executions: u64,
    pub(super) per_second: u64,
    /// Inputs that failed, as files.
    pub(super) findings: Vec<PathBuf>,
    /// It ended as it should: a failure that left no file is one, too.
    pub(super) is_good: bool,
}

/// Runs the target for so long, or until it fails.
pub(super) fn run(programs: &Path, target: &str, time: Duration) -> Result<Outcome> {
    let (corpus, artifacts) = (own_folder("corpus", target)?, own_folder("artifacts", target)?);
    let seeds = repository_root().join("crates/trials/corpus").join(target);
    let before = files(&artifacts)?;
    let mut command = Command::new(programs.join(target));
    command.args(LIMITS).args(["-print_final_stats=1", "-verbosity=0"]);
    command.arg(format!("-max_total_time={}", time.as_secs()));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.arg(corpus).arg(seeds).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("{target} cannot be run"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        show_end(&said);
    }
    let findings = files(&artifacts)?.difference(&before).cloned().collect();
    Ok(Outcome { findings, is_good: output.status.success(), ..Outcome::of_statistics(&said) })
}

/// A folder of this target's in the fuzzing workspace, made unless it is there.
fn own_folder(kind: &str, target: &str) -> Result<PathBuf> {
    let folder = folder().join(kind).join(target);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let entries = folder.read_dir().with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn show_end(said: &str) {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(LINES_SHOWN)..].iter().for_each(|line| println!("{line}"));
}

impl Outcome {
    /// Reads the figures that libFuzzer prints at its end.
    fn of_statistics(said: &str) -> Self {
        let figure = |name: &str| {
            let mut lines = said.lines().filter_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
            lines.next().and_then(|rest| rest.trim_start_matches(':').trim().parse().ok()).unwrap_or(0)
        };
        let executions = figure("number_of_executed_units");
        Self { executions, per_second: figure("average_exec_per_sec"), ..Self::default() }
    }

    /// Returns true if nothing was found.
    pub(super) fn is_clean(&self) -> bool {
        self.is_good && self.findings.is_empty()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = if self.is_clean() { "nothing found" } else { "failed" };
        write!(f, "{} executions, {} per second: {result}", self.executions, self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_read_from_among_other_lines() {
        let said = "INFO: Seed: 1\nDone 12 runs\nstat::number_of_executed_units: 84811\n\
            stat::average_exec_per_sec:     5300\nstat::new_units_added:          1716\n";
        let outcome = Outcome::of_statistics(said);
        assert_eq!((outcome.executions, outcome.per_second), (84_811, 5_300));
        assert_eq!(Outcome::of_statistics("ended early"), Outcome::default());
    }

    #[test]
    fn a_failure_without_a_file_is_not_clean() {
        let good = Outcome { is_good: true, ..Outcome::default() };
        assert!(good.is_clean());
        assert!(!Outcome { is_good: false, ..good.clone() }.is_clean());
        assert!(!Outcome { findings: vec!["crash-1".into()], ..good }.is_clean());
    }
}
