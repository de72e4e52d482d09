//! What a run came to: a line for each target, and what to do about findings.

use std::fmt;
use std::process::ExitCode;

use super::run::Outcome;

/// All targets that have run.
#[derive(Default)]
pub(super) struct Report {
    pub(super) rows: Vec<Row>,
}

/// One target.
pub(super) struct Row {
    pub(super) target: String,
    pub(super) outcome: Outcome,
}

impl Report {
    pub(super) fn exit_code(&self) -> ExitCode {
        if self.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn is_clean(&self) -> bool {
        self.rows.iter().all(|row| row.outcome.is_clean())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<18} {:>12} {:>11} {:>9}", "target", "executions", "per second", "findings")?;
        for Row { target, outcome } in &self.rows {
            let Outcome { executions, per_second, findings, .. } = outcome;
            let found = findings.len().max(usize::from(!outcome.is_clean()));
            writeln!(f, "{target:<18} {executions:>12} {per_second:>11} {found:>9}")?;
        }
        for Row { target, outcome } in &self.rows {
            for file in &outcome.findings {
                writeln!(f, "\ncp {} crates/trials/corpus/{target}/", file.display())?;
            }
        }
        if !self.is_clean() {
            write!(
                f,
                "\nWith its file in the corpus `cargo test -p alula-trials` shows a finding and keeps it."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_fails_the_run_and_is_named() {
        let good = Outcome { executions: 10, per_second: 5, findings: Vec::new(), is_good: true };
        let bad =
            Outcome { findings: vec!["fuzz/artifacts/head/crash-1".into()], is_good: false, ..good.clone() };
        let row = |target: &str, outcome| Row { target: target.into(), outcome };
        let clean = Report { rows: vec![row("head", good.clone())] };
        assert_eq!(clean.exit_code(), ExitCode::SUCCESS);
        let failed = Report { rows: vec![row("head", bad), row("huffman", good)] };
        assert_eq!(failed.exit_code(), ExitCode::FAILURE);
        let text = failed.to_string();
        assert!(text.contains("cp fuzz/artifacts/head/crash-1 crates/trials/corpus/head/"), "{text}");
        assert!(text.contains("huffman                      10           5         0"), "{text}");
    }
}
