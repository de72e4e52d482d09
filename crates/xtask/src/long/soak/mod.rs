//! `cargo xtask soak`: the long runs of `crates/simulation` and of the tests of `crates/store`, with the
//! release build.

mod store;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::command::{cargo, run};

const PACKAGE: &str = "alula-simulation";

/// What stands behind `cargo xtask soak`.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    match args {
        ["--store", rest @ ..] => store::command(rest),
        ["--simulation", rest @ ..] => start("alula-simulate", &[], rest),
        [] | ["--requests", _] => start("alula-soak", &["--no-default-features"], args),
        other => bail!("`soak {}` is not a command", other.join(" ")),
    }
}

fn start(program: &str, features: &[&str], args: &[&str]) -> Result<ExitCode> {
    let mut command = cargo(["run", "--quiet", "--release", "--package", PACKAGE, "--bin", program]);
    run(command.args(features).arg("--").args(args))?;
    Ok(ExitCode::SUCCESS)
}
