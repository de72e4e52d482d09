//! The Python client `riak`, whose own suite is run against `alula store`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::{answer, run};
use crate::tools;

/// All of them, those that others need included. The client is a source package, which needs setuptools to be
/// built.
const PACKAGES: [&str; 4] =
    ["basho_erlastic==2.1.1", "python3_protobuf==2.5.0", "riak==2.7.0", "six==1.17.0"];

/// The client was written for Python 2 and 3.6. Before anything else is imported, this gives it what Python
/// 3.11 has elsewhere.
const SHIM: &str = include_str!("riak_shim.py");

/// The version of Python that the client works with after that; from 3.12 on more is missing.
const PYTHON: &str = "python3.11";

/// Makes a virtual environment in `target/tools/riak` that has the client.
pub(crate) fn install() -> Result<()> {
    if interpreter().is_some() {
        println!("Python: the client of Riak is there");
        return Ok(());
    }
    println!("Python: will install {} into {}", PACKAGES.join(", "), folder().display());
    run(Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(folder()))
        .context("no virtual environment of Python 3.11")?;
    let mut pip = Command::new(program());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    run(&mut pip).context("the client of Riak could not be installed")?;
    fs::write(packages().join("sitecustomize.py"), SHIM)?;
    // A test stores a file that it looks for two folders above itself.
    fs::write(packages().join("README.md"), "")?;
    ensure!(interpreter().is_some(), "the client of Riak was installed and cannot be imported");
    Ok(())
}

/// The interpreter that can import it.
pub(crate) fn interpreter() -> Option<PathBuf> {
    let is_whole = packages().join("README.md").is_file();
    let imported = answer(Command::new(program()).args(["-c", "import riak.tests.test_kv"]));
    imported.filter(|_| is_whole).map(|_| program())
}

fn folder() -> PathBuf {
    tools::folder().join("riak")
}

fn packages() -> PathBuf {
    folder().join("lib").join(PYTHON).join("site-packages")
}

fn program() -> PathBuf {
    folder().join("bin").join("python3")
}
