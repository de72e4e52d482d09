//! The test binaries of the workspace: built by one call of cargo, which then runs them one after the other;
//! here they run as many at a time as there are cores.

use std::{
    fs, io,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{Mutex, mpsc},
    thread,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Tally;
use crate::command::{announce, cargo, describe};

/// Texts of a `main.rs` whose cases need the machine to themselves: the call that is its `main`, or a line.
const ALONE: [&str; 2] = ["run_one_by_one(", "//! Nothing runs beside it."];

/// A built test binary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Binary {
    /// The package's folder and the target's name.
    name: String,
    program: PathBuf,
    /// The folder of its package, in which it runs.
    folder: PathBuf,
    /// No other binary runs beside it.
    is_alone: bool,
}

/// Builds all test binaries with all features.
///
/// # Errors
/// One of them does not compile.
pub(crate) fn build() -> Result<Vec<Binary>> {
    let mut build = cargo(["test", "--workspace", "--all-features", "--no-run"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    announce(&build);
    let output = build.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "`{}` ended with {}", describe(&build), output.status);
    let mut binaries = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        binaries.extend(Binary::built(&serde_json::from_str(line)?)?);
    }
    // The largest take longest, and one that begins last keeps nobody waiting.
    binaries.sort_by_key(|binary| fs::metadata(&binary.program).map_or(0, |file| u64::MAX - file.len()));
    Ok(binaries)
}

impl Binary {
    /// Reads a message of cargo, which may be about something else.
    fn built(message: &Value) -> Result<Option<Self>> {
        let is_test = message["profile"]["test"] == true;
        let (true, Some(program)) = (is_test, message["executable"].as_str()) else { return Ok(None) };
        let text = |value: &Value| value.as_str().map(PathBuf::from).context("cargo says no path");
        let source = text(&message["target"]["src_path"])?;
        let text_of = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let is_alone = ALONE.iter().any(|alone| text_of.contains(alone));
        let mut folder = text(&message["manifest_path"])?;
        folder.pop();
        let package = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{package} {}", message["target"]["name"].as_str().unwrap_or_default());
        Ok(Some(Self { name, program: program.into(), folder, is_alone }))
    }

    /// Returns true if it is one of the package in `crates/PACKAGE`.
    pub(crate) fn is_of(&self, package: &str) -> bool {
        self.folder.file_name().is_some_and(|name| name == package)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Runs binaries, and commands of cargo that test beside them; those that need the machine to themselves
/// last. Each one's output is shown when it has ended.
///
/// # Errors
/// One of them fails; all others ran nevertheless.
pub(crate) fn run(
    binaries: &[&Binary],
    others: Vec<Command>,
    environment: &[(&'static str, PathBuf)],
    tally: &mut Tally,
) -> Result<()> {
    let command = |binary: &Binary| {
        let mut command = binary.command();
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        (binary.name.clone(), command)
    };
    let (alone, beside): (Vec<_>, Vec<_>) = binaries.iter().copied().partition(|binary| binary.is_alone);
    let others = others.into_iter().map(|other| (describe(&other), other));
    let beside = others.chain(beside.into_iter().map(command)).collect();
    let mut failed = run_at_once(beside, thread::available_parallelism()?.get(), tally);
    failed.extend(run_at_once(alone.into_iter().map(command).collect(), 1, tally));
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Runs so many commands at a time, and returns those that failed.
fn run_at_once(tests: Vec<(String, Command)>, at_once: usize, tally: &mut Tally) -> Vec<String> {
    let tests = &Mutex::new(tests.into_iter());
    let (sender, ended) = mpsc::channel();
    thread::scope(|scope| {
        for sender in vec![sender; at_once] {
            scope.spawn(move || {
                let next = || tests.lock().expect("no thread panics").next();
                while let Some((name, mut test)) = next() {
                    println!("$ {name}");
                    let output = test.stdin(Stdio::null()).output();
                    sender.send((name, output)).expect("the end is waited for");
                }
            });
        }
        let failed = ended.into_iter().filter(|(name, output)| !show(name, output, tally));
        failed.map(|(name, _)| name).collect()
    })
}

/// Shows a command's output and counts the tests in it; returns true if they passed.
fn show(name: &str, output: &io::Result<Output>, tally: &mut Tally) -> bool {
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("`{name}` cannot be run: {error}");
            return false;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    println!("\n$ {name}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().for_each(|line| tally.read(line));
    if !output.status.success() {
        println!("`{name}` ended with {}", output.status);
    }
    output.status.success()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (String, Command) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        (script.into(), command)
    }

    #[test]
    fn one_that_fails_is_named_and_all_are_counted() {
        let result = |passed, failed| format!("echo 'test result: x. {passed} passed; {failed} failed;'");
        let tests = [result(2, 0), result(1, 1) + "; exit 101", result(4, 0), "exec /nowhere/at/all".into()];
        let mut tally = Tally::default();
        let mut failed = run_at_once(tests.iter().map(|script| shell(script)).collect(), 2, &mut tally);
        failed.sort();
        let named = vec![tests[1].clone(), tests[3].clone()];
        assert_eq!((failed, tally.to_string()), (named, "7 passed, 1 failed".into()));
    }

    #[test]
    fn two_run_at_once() {
        let folder = tempfile::tempdir().unwrap();
        // Each makes a pipe's end ready for the other, and neither ends before.
        let pipe = folder.path().join("pipe");
        assert!(shell(&format!("mkfifo {}", pipe.display())).1.status().unwrap().success());
        let tests =
            vec![shell(&format!("echo > {}", pipe.display())), shell(&format!("cat {}", pipe.display()))];
        assert!(run_at_once(tests, 2, &mut Tally::default()).is_empty());
    }

    #[test]
    fn tests_that_need_the_machine_are_told_by_their_main() {
        let message = |source: &str| {
            let root = alula_tidy::repository_root();
            serde_json::json!({
                "profile": { "test": true },
                "executable": "/target/process",
                "manifest_path": root.join("crates/cli/Cargo.toml"),
                "target": { "src_path": root.join(source), "name": "it" },
            })
        };
        let built = |source| Binary::built(&message(source)).unwrap().unwrap();
        assert!(built("crates/cli/tests/process/main.rs").is_alone);
        assert!(built("crates/conformance/tests/store_worst/main.rs").is_alone);
        let it = built("crates/cli/tests/it/main.rs");
        assert!(!it.is_alone && it.is_of("cli") && !it.is_of("store"));
        assert_eq!(it.name, "cli it");
        assert_eq!(Binary::built(&serde_json::json!({ "profile": { "test": false } })).unwrap(), None);
    }
}
