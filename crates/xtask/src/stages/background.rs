//! Stages that run in processes of their own beside others, since linking a whole program takes minutes of
//! one core, and tests wait as often as they compute.

use std::{
    env, fs,
    fs::File,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
};

use anyhow::{Result, ensure};

use crate::{costs, package, tools};

/// A process of this program; it goes on if an earlier stage fails, and the next run finds what it made.
pub(super) struct Background {
    process: Child,
    words: String,
    log: PathBuf,
}

impl Background {
    /// Starts `cargo xtask` with these words; the output goes to `target/FIRST-WORD.log`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(words: &[&str]) -> Result<Self> {
        let log = tools::folder().with_file_name(format!("{}.log", words[0]));
        let output = File::create(&log)?;
        let mut command = Command::new(env::current_exe()?);
        command.args(words).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        Ok(Self { process: command.spawn()?, words: words.join(" "), log })
    }

    /// Waits until it ends, and shows its output.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn wait(mut self) -> Result<()> {
        let status = self.process.wait()?;
        print!("{}", String::from_utf8_lossy(&fs::read(&self.log)?));
        ensure!(status.success(), "`cargo xtask {}` ended with {status}", self.words);
        Ok(())
    }
}

/// Builds what the stages after the tests need: the work of `cargo xtask prepare`.
///
/// # Errors
/// Something cannot be built, or the package breaks a rule.
pub(crate) fn prepare(with_peers: bool) -> Result<ExitCode> {
    if with_peers {
        package::build()?;
        costs::measure::Bench::build()?;
    } else {
        package::build_program()?;
    }
    tools::cargo_deny()?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_fails_is_an_error_that_names_it() {
        let log = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let ends = |program: &str| {
            let process = Command::new(program).spawn().unwrap();
            Background { process, words: "prepare".into(), log: log.to_path_buf() }.wait()
        };
        ends("true").unwrap();
        assert!(ends("false").unwrap_err().to_string().starts_with("`cargo xtask prepare` ended with"));
    }
}
