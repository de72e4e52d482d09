//! The fuzzing workspace: its folder and its targets.

use std::path::PathBuf;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

pub(super) fn folder() -> PathBuf {
    repository_root().join("fuzz")
}

/// The names of all targets, in their order.
pub(super) fn targets() -> Result<Vec<String>> {
    let folder = folder().join("fuzz_targets");
    let mut targets = Vec::new();
    for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        targets.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}
