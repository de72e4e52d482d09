//! The table of limits in `docs/limits.md`: `cargo test` compares it, this writes it.

use std::process::ExitCode;

use alula_tidy::{current_limits, limits_page};
use anyhow::{Context, Result};

/// Makes the table what the sources say.
pub(crate) fn write() -> Result<ExitCode> {
    let page = limits_page();
    std::fs::write(&page, current_limits()?).with_context(|| page.display().to_string())?;
    println!("wrote {}", page.display());
    Ok(ExitCode::SUCCESS)
}
