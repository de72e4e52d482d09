//! Python's packages: `hpack`, a second opinion about header compression, `httpx`, a client of our server,
//! and `httpie`, the program beside which the command is tried.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::{answer, run};
use crate::tools;

/// All of them, those that others need included, so that a test meets the same code tomorrow.
const PACKAGES: [&str; 23] = [
    "anyio==4.12.0",
    "certifi==2025.11.12",
    "charset-normalizer==3.5.3",
    "defusedxml==0.7.1",
    "h11==0.16.0",
    "h2==4.3.0",
    "hpack==4.1.0",
    "httpcore==1.0.9",
    "httpie==3.2.4",
    "httpx==0.28.1",
    "hyperframe==6.1.0",
    "idna==3.11",
    "markdown-it-py==4.3.0",
    "mdurl==0.1.2",
    "multidict==7.2.1",
    "Pygments==2.21.0",
    "PySocks==1.7.1",
    "requests==2.34.2",
    "requests-toolbelt==1.0.0",
    "rich==15.0.0",
    "setuptools==65.5.0",
    "typing_extensions==4.15.0",
    "urllib3==2.8.0",
];

/// Makes a virtual environment in `target/tools/py` that has them.
pub(crate) fn install() -> Result<()> {
    if interpreter().is_some() {
        println!("Python: httpx, hpack and HTTPie are there");
        return Ok(());
    }
    println!("Python: will install {} into {}", PACKAGES.join(", "), folder().display());
    run(Command::new("python3").args(["-m", "venv"]).arg(folder())).context("no virtual environment")?;
    let mut pip = Command::new(program());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    run(&mut pip).context("Python's packages could not be installed")?;
    ensure!(interpreter().is_some(), "Python's packages were installed and cannot be imported");
    Ok(())
}

/// The interpreter that can import them.
pub(crate) fn interpreter() -> Option<PathBuf> {
    answer(Command::new(program()).args(["-c", "import hpack, h2, httpie, httpx"])).map(|_| program())
}

/// HTTPie's own program.
pub(crate) fn httpie() -> Option<PathBuf> {
    interpreter().map(|_| folder().join("bin").join("http"))
}

/// Debian ships Python without what `venv` needs, and what is to be installed with Python has it neither.
pub(crate) fn needs_venv_package() -> bool {
    answer(Command::new("python3").args(["-c", "import ensurepip"])).is_none()
}

fn folder() -> PathBuf {
    tools::folder().join("py")
}

fn program() -> PathBuf {
    folder().join("bin").join("python3")
}
