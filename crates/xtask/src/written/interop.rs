//! The interop matrix: printed, or written to `docs/interop.md`.

use std::process::ExitCode;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use crate::command::{answer, cargo};

/// Prints the page.
pub(crate) fn print() -> Result<ExitCode> {
    print!("{}", page()?);
    Ok(ExitCode::SUCCESS)
}

/// Makes the page what the matrix says.
pub(crate) fn write() -> Result<ExitCode> {
    let file = repository_root().join("docs/interop.md");
    std::fs::write(&file, page()?).with_context(|| file.display().to_string())?;
    println!("wrote {}", file.display());
    Ok(ExitCode::SUCCESS)
}

fn page() -> Result<String> {
    let mut print =
        cargo(["run", "--quiet", "--release", "--package", "alula-conformance", "--example", "interop"]);
    answer(&mut print).context("the matrix could not be built")
}
