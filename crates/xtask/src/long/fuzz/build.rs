//! Building the targets: with the nightly toolchain, and with the coverage counters that libFuzzer reads.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::workspace::folder;
use crate::command::{answer, run};
use crate::tools;

/// What `cargo fuzz` passes as well, but for the address sanitizer: no crate here has unsafe code, and
/// without it a target runs about twice as fast.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Builds every target, and says in which folder the programs lie. About a minute the first time.
pub(super) fn build() -> Result<PathBuf> {
    let host = host()?;
    let target = tools::folder().with_file_name("fuzz");
    let mut build = nightly("cargo");
    // With the host named, build scripts are compiled without the flags.
    build.args(["build", "--release", "--target", &host]).current_dir(folder());
    build.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", FLAGS.join(" "));
    run(&mut build)?;
    Ok(target.join(host).join("release"))
}

/// The host's triple, as the nightly compiler tells it.
fn host() -> Result<String> {
    let told = answer(nightly("rustc").arg("-vV"));
    let told = told.context(
        "no nightly toolchain: `rustup toolchain install nightly`, and libFuzzer needs a C++ compiler",
    )?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say its host")?.to_owned())
}

/// A program of the nightly toolchain. Whatever cargo has said of the toolchain that runs us is not for it.
fn nightly(program: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", program]);
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}
