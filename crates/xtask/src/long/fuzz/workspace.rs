//! The fuzzing workspace: its folder and its targets.

use std::{fs, path::PathBuf};

use alula_tidy::repository_root;
use anyhow::{Context, Result};

pub(super) fn folder() -> PathBuf {
    repository_root().join("fuzz")
}

/// The names of all targets, in their order: those of the programs in the manifest.
pub(super) fn targets() -> Result<Vec<String>> {
    let manifest = folder().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let programs = text.split("\n[[bin]]\n").skip(1);
    let name = |program: &str| Some(program.strip_prefix("name = \"")?.split('"').next()?.to_owned());
    Ok(programs.filter_map(name).collect())
}
