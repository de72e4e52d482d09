//! The snapshot of the public API: `cargo test` compares it, this writes it.

use std::process::ExitCode;

use alula_tidy::{api_file, check_api, current_api};
use anyhow::{Context, Result};

/// Prints what differs from the snapshot.
pub(crate) fn check() -> Result<ExitCode> {
    let difference = check_api()?;
    for line in &difference {
        println!("{line}");
    }
    println!("{} lines differ", difference.len());
    Ok(if difference.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes the snapshot what the sources say.
pub(crate) fn write() -> Result<ExitCode> {
    let file = api_file();
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(&file, current_api()?).with_context(|| file.display().to_string())?;
    println!("wrote {}", file.display());
    Ok(ExitCode::SUCCESS)
}
