//! Python's httpx, by a script: see `peers/httpx_client.py`.

use std::process::Command;

use crate::environment;

/// The client, to be told what to ask for line by line.
///
/// # Panics
/// When there is no interpreter that has httpx.
#[must_use]
pub fn client() -> Command {
    let python = environment::python().expect("ALULA_PYTHON names an interpreter that has httpx");
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/httpx_client.py"));
    command
}
