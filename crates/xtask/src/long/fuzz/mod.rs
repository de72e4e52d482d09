//! `cargo xtask fuzz`: every target of `fuzz/` in turn for some minutes each, from the corpus of
//! `crates/trials`.
//!
//! What is found on the way is kept: inputs that reach new code in `fuzz/corpus`, inputs that fail in
//! `fuzz/artifacts`. A file of the latter, copied to `crates/trials/corpus`, is a regression that `cargo
//! test` runs.

mod build;
mod report;
mod run;
mod workspace;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use report::{Report, Row};

/// What stands behind `cargo xtask fuzz`; fails when a target does.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let targets = chosen(workspace::targets()?, options.target.as_deref())?;
    let programs = build::build()?;
    let mut report = Report::default();
    for target in targets {
        println!("\n=== {target}");
        let outcome = run::run(&programs, &target, options.time)?;
        println!("=== {outcome}");
        report.rows.push(Row { target, outcome });
    }
    println!("\n{report}");
    Ok(report.exit_code())
}

#[derive(Debug, PartialEq)]
struct Options {
    /// All of them unless one is named.
    target: Option<String>,
    time: Duration,
}

impl Options {
    fn parse(args: &[&str]) -> Result<Self> {
        let (target, rest) = match args {
            [target, rest @ ..] if !target.starts_with('-') => (Some((*target).to_owned()), rest),
            rest => (None, rest),
        };
        let minutes = match rest {
            [] => 1.0,
            ["--minutes", minutes] => minutes.parse().with_context(|| format!("{minutes} minutes"))?,
            other => bail!("`fuzz {}` is not a command", other.join(" ")),
        };
        // libFuzzer counts whole seconds, and zero is no limit to it.
        let time = Duration::try_from_secs_f64(minutes * 60.0).unwrap_or_default();
        ensure!(time.as_secs() > 0, "{minutes} minutes are no time to fuzz");
        Ok(Self { target, time })
    }
}

fn chosen(all: Vec<String>, named: Option<&str>) -> Result<Vec<String>> {
    let Some(named) = named else { return Ok(all) };
    ensure!(all.iter().any(|target| target == named), "no target {named}; there are {}", all.join(", "));
    Ok(vec![named.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Option<(Option<String>, u64)> {
        Options::parse(args).ok().map(|options| (options.target, options.time.as_secs()))
    }

    #[test]
    fn target_and_minutes_may_be_left_out() {
        assert_eq!(parsed(&[]), Some((None, 60)));
        assert_eq!(parsed(&["huffman"]), Some((Some("huffman".into()), 60)));
        assert_eq!(parsed(&["--minutes", "0.5"]), Some((None, 30)));
        assert_eq!(parsed(&["huffman", "--minutes", "10"]), Some((Some("huffman".into()), 600)));
        for wrong in
            [&["--minutes"][..], &["--minutes", "x"], &["--minutes", "-1"], &["--minutes", "0"], &["a", "b"]]
        {
            assert_eq!(parsed(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_target_that_is_not_there_is_refused() {
        let all = || vec!["head".to_owned(), "huffman".to_owned()];
        assert_eq!(chosen(all(), None).expect("all"), all());
        assert_eq!(chosen(all(), Some("huffman")).expect("one"), ["huffman"]);
        assert!(chosen(all(), Some("tail")).is_err());
    }
}
