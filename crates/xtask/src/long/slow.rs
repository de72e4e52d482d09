//! `cargo xtask slow`: slowhttptest against the servers of the `alula` program, with bystanders that must be
//! served.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, run};
use crate::{peers, tools};

/// The words behind `cargo xtask slow`.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    let seconds = match args {
        [] => 60,
        ["--seconds", seconds] => seconds.parse::<u64>().with_context(|| format!("--seconds {seconds}"))?,
        other => bail!("`slow {}` is not a command", other.join(" ")),
    };
    peers::install_slow()?;
    run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
    let mut play =
        cargo(["run", "--quiet", "--release", "--package", "alula-conformance", "--example", "slow"]);
    play.args(["--", &seconds.to_string()]);
    run(play.env("ALULA_BIN", tools::folder().with_file_name("release").join("alula")))?;
    Ok(ExitCode::SUCCESS)
}
