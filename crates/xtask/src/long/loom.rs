//! `cargo xtask loom`: the model of threads in `crates/simulation`, with the release build, which tries more
//! than the tests do.

use std::process::ExitCode;

use anyhow::Result;

use crate::command::{cargo, run};

/// Prints the number of interleavings that were tried.
pub(crate) fn command() -> Result<ExitCode> {
    let mut test = cargo(["test", "--release", "--package", "alula-simulation", "--test", "hand_over"]);
    run(test.args(["--", "--nocapture", "nobody_waits"]))?;
    Ok(ExitCode::SUCCESS)
}
