//! Where the tools that the stages need are kept: `target/tools`, so that nothing outside the clone changes.

use std::path::PathBuf;
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::Result;

use crate::command::{answer, cargo, run};

/// The release of cargo-deny that `deny.toml` is written for; it builds with the workspace's rust-version.
const CARGO_DENY: &str = "0.20.2";

/// The release of cargo-deb that the metadata of `crates/cli/Cargo.toml` is written for.
const CARGO_DEB: &str = "3.8.0";

/// `target/tools`; programs lie in its `bin`.
pub(crate) fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    repository_root().join(target).join("tools")
}

/// Where the programs in [`folder`] lie.
pub(crate) fn bin() -> PathBuf {
    folder().join("bin")
}

/// Installs cargo-deny into [`folder`] unless that very version is there; less than a minute the first time.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    installed("cargo-deny", CARGO_DENY)
}

/// As [`cargo_deny`], for what makes Debian's packages.
pub(crate) fn cargo_deb() -> Result<PathBuf> {
    installed("cargo-deb", CARGO_DEB)
}

fn installed(name: &str, version: &str) -> Result<PathBuf> {
    let program = bin().join(name);
    let there = answer(Command::new(&program).arg("--version"));
    if there.is_some_and(|there| there.trim().ends_with(version)) {
        return Ok(program);
    }
    let package = format!("{name}@{version}");
    let mut install = cargo(["install", "--quiet", "--locked", "--debug", &package, "--root"]);
    // Its release profile takes three times as long to build and saves half a second of the check. A target
    // folder of its own goes away with the build.
    install.arg(folder()).env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("CARGO_TARGET_DIR");
    run(&mut install)?;
    Ok(program)
}
