//! promtool, which checks the text of metrics as Prometheus reads it.
//!
//! Its Debian package has a server in it, which would be started where it is installed; so the program is
//! taken out of the package, and nothing is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::debian;
use crate::command::{answer, run};
use crate::tools;

const PACKAGE: &str = "prometheus";

/// Puts the program into `target/tools/bin`, unless one that runs is there.
pub(crate) fn install() -> Result<()> {
    let program = tools::bin().join("promtool");
    if answer(Command::new(&program).arg("--version")).is_some() {
        println!("promtool: there");
        return Ok(());
    }
    println!("missing: promtool (checks our metrics); will take it out of the Debian package {PACKAGE}");
    let folder = tools::folder().join("promtool");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    fs::create_dir_all(tools::bin())?;
    unpack(&folder).context("the package could not be unpacked")?;
    fs::rename(folder.join("usr/bin/promtool"), &program)?;
    fs::remove_dir_all(&folder)?;
    ensure!(answer(Command::new(&program).arg("--version")).is_some(), "promtool does not run");
    Ok(())
}

/// Downloads the package into a folder, and unpacks it there.
fn unpack(folder: &Path) -> Result<()> {
    debian::download(PACKAGE, folder)?;
    let package = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let package = package.into_iter().find(|path| path.extension().is_some_and(|end| end == "deb"));
    let package = package.context("apt-get has left no package")?;
    run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(folder))
}
