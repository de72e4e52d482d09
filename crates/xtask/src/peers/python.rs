//! Python's `hpack`, a second opinion about header compression, where Python is there.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{answer, run};
use crate::tools;

const HPACK: &str = "hpack==4.1.0";

/// Makes a virtual environment in `target/tools/py` that has `hpack`; does nothing where there is no Python.
pub(crate) fn install() -> Result<()> {
    if !is_there() {
        println!("Python: not here, so its hpack package is not compared with");
        return Ok(());
    }
    if interpreter().is_some() {
        println!("Python: {HPACK} is there");
        return Ok(());
    }
    println!("Python: will install {HPACK} into {}", folder().display());
    run(Command::new("python3").args(["-m", "venv"]).arg(folder())).context("no virtual environment")?;
    let mut pip = Command::new(program());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", HPACK]);
    run(&mut pip).context("hpack could not be installed")
}

/// The interpreter that can import `hpack`.
pub(crate) fn interpreter() -> Option<PathBuf> {
    answer(Command::new(program()).args(["-c", "import hpack"])).map(|_| program())
}

/// Debian ships Python without what `venv` needs.
pub(crate) fn needs_venv_package() -> bool {
    is_there() && answer(Command::new("python3").args(["-c", "import ensurepip"])).is_none()
}

fn is_there() -> bool {
    answer(Command::new("python3").arg("--version")).is_some()
}

fn folder() -> PathBuf {
    tools::folder().join("py")
}

fn program() -> PathBuf {
    folder().join("bin").join("python3")
}
