//! h2spec and h2specd, from the Go module whose versions and checksums `crates/xtask/peers` pins.

use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

use crate::command::{answer, run};
use crate::tools;

const PROGRAMS: [&str; 2] =
    ["github.com/summerwind/h2spec/cmd/h2spec", "github.com/summerwind/h2spec/cmd/h2specd"];

/// Go itself is a prerequisite: it comes from wherever its user wants it from.
pub(crate) fn require() -> Result<()> {
    let version = answer(Command::new("go").arg("version"));
    let version = version.context(
        "Go (1.24 or later) is a prerequisite of the conformance tests, which build h2spec and a peer, and `go` is not \
         on PATH: install it, or run `cargo xtask test --no-peers`",
    )?;
    println!("{}", version.trim());
    Ok(())
}

/// Builds both programs into `target/tools/bin`; some milliseconds when they are fresh.
pub(crate) fn install() -> Result<()> {
    let bin = tools::bin();
    std::fs::create_dir_all(&bin)?;
    println!("Go modules: h2spec and h2specd, into {}", bin.display());
    let mut build = Command::new("go");
    build.arg("build").arg("-mod=readonly").arg("-o").arg(&bin).args(PROGRAMS);
    run(build.current_dir(repository_root().join("crates/xtask/peers")))
        .context("h2spec could not be built")?;
    ensure!(bin.join("h2spec").is_file() && bin.join("h2specd").is_file(), "h2spec was not built");
    Ok(())
}
