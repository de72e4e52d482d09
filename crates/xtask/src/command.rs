//! Running other programs: said before it is done, and an error when the exit status is not zero.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

/// `cargo` with these arguments, in the repository's root.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(repository_root());
    command
}

/// Prints the command, runs it with our own output streams and waits.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.stdin(Stdio::null()).status().with_context(|| cannot_run(command))?;
    ensure!(status.success(), "`{}` ended with {status}", describe(command));
    Ok(())
}

/// What the command prints to standard output, or `None` when it cannot be run or fails.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where on `PATH` the program is.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Debian keeps servers such as nginx where an ordinary user's PATH does not look.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns the place on `PATH` of a program that is needed.
///
/// # Errors
/// It is not there.
pub(crate) fn needed_program(name: &str) -> Result<PathBuf> {
    find_program(name).with_context(|| format!("{name} is not there"))
}

/// Prints the command before it is run.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", describe(command));
}

/// Returns the program's name and its arguments.
pub(crate) fn describe(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let mut words = vec![program.file_name().unwrap_or_default().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}

fn cannot_run(command: &Command) -> String {
    format!("`{}` cannot be run", describe(command))
}
