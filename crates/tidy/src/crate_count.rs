//! How many crates a user of `alula` compiles.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repository_root;

/// The number held. The most used Rust HTTP client compiles 104 with TLS on Linux.
pub const CRATES_MAX: usize = 75;

/// Every crate that building `alula` with default features compiles on x86-64 Linux, as `name version`; our
/// own and the ones for build scripts and macros are among them.
///
/// # Errors
/// When `cargo tree` cannot be run or fails.
pub fn crates_compiled() -> Result<BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--package", "alula", "--edges", "normal,build", "--prefix", "none"])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .current_dir(repository_root())
        .output()
        .context("cargo tree cannot be run")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(names(&String::from_utf8_lossy(&output.stdout)))
}

/// The first two words of each line: `serde v1.0.229 (proc-macro) (*)` is `serde v1.0.229`.
fn names(tree: &str) -> BTreeSet<String> {
    let two_words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    tree.lines().filter(|line| !line.is_empty()).map(two_words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_and_each_version_of_it() {
        let tree = "alula v0.1.0 (/somewhere)\nsyn v2.0.1\nsyn v2.0.1 (*)\nsyn v1.0.9 (proc-macro)\n\n";
        assert_eq!(names(tree).len(), 3);
    }
}
