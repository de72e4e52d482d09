//! `cargo xtask package`: the `alula` program as users install it, with manual and completions, in a package
//! of Debian.
//!
//! The tests of it want `man`, zsh and fish, which `cargo xtask test` installs.

mod dockerfile;
mod paths;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

use crate::{
    command::{answer, cargo, run},
    tools,
};

/// The program without symbols has at most so many bytes.
const PROGRAM_MAX: usize = 13_000_000;

/// Builds the program, as the Dockerfile does. Addresses that are filled in at the start are listed in packed
/// form, which saves half a megabyte and asks for glibc 2.36; a linker that cannot do so warns and lists them
/// at length.
const BUILD: [&str; 9] = [
    "rustc",
    "--locked",
    "--profile",
    "dist",
    "--package",
    "alula-cli",
    "--",
    "-C",
    "link-arg=-Wl,-z,pack-relative-relocs",
];

/// The shells that have completions, and the files that they look for.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "alula.bash"), ("zsh", "_alula"), ("fish", "alula.fish")];

/// Makes the package, has it installed and used by the tests of it, and says where it is.
pub(crate) fn command() -> Result<ExitCode> {
    build()?;
    let mut tests = cargo(["test", "--package", "alula-conformance", "--test", "it", "package::"]);
    run(tests.env("ALULA_BIN", program()).env("ALULA_DEB", package()))?;
    println!("{}", package().display());
    Ok(ExitCode::SUCCESS)
}

/// Has the Dockerfile looked at, and builds the program, its manual, its completions and the package.
///
/// # Errors
/// One of them cannot be made, the program is too large or names a folder of this machine, or the Dockerfile
/// breaks a rule of its linter.
pub(crate) fn build() -> Result<()> {
    dockerfile::lint()?;
    build_program()?;
    describe(&program())?;
    let mut deb = Command::new(tools::cargo_deb()?);
    deb.args(["--no-build", "--no-strip", "--profile", "dist", "--package", "alula-cli", "--output"]);
    run(deb.arg(package()).current_dir(repository_root()))
}

/// Builds the program alone.
///
/// # Errors
/// It does not compile, is too large or names a folder of this machine.
pub(crate) fn build_program() -> Result<()> {
    let folders = paths::Folders::of_the_build()?;
    run(cargo(BUILD).env("CARGO_ENCODED_RUSTFLAGS", folders.flags()))?;
    let bytes = fs::read(program()).with_context(|| program().display().to_string())?;
    println!("the program has {} bytes", bytes.len());
    ensure!(bytes.len() <= PROGRAM_MAX, "the program has more than {PROGRAM_MAX} bytes");
    folders.are_unnamed(&bytes)
}

/// Writes the manual and the completions that the program makes of its table of flags.
fn describe(program: &Path) -> Result<()> {
    let completions = folder().join("completions");
    fs::create_dir_all(&completions)?;
    run(Command::new(program).args(["man", "--dir"]).arg(folder().join("man")))?;
    for (shell, file) in COMPLETIONS {
        let script = answer(Command::new(program).args(["completions", shell]));
        fs::write(completions.join(file), script.with_context(|| format!("no completions for {shell}"))?)?;
    }
    Ok(())
}

fn target() -> PathBuf {
    tools::folder().with_file_name("")
}

/// The place of the program.
pub(crate) fn program() -> PathBuf {
    target().join("dist").join("alula")
}

/// The place of the package.
pub(crate) fn package() -> PathBuf {
    folder().join("alula.deb")
}

/// The folder that the package lies in, and what goes into it.
fn folder() -> PathBuf {
    target().join("package")
}
