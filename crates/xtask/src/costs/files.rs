//! The folder of the recorded figures, and reading a file of it or a document.

use std::path::{Path, PathBuf};

use alula_tidy::repository_root;
use anyhow::{Context, Result};

pub(super) fn figures_folder() -> PathBuf {
    repository_root().join("crates/bench/figures")
}

/// # Errors
/// With the path, when the file cannot be read.
pub(super) fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| file.display().to_string())
}
