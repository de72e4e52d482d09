//! A script for Node's http2, server and client: see `peers/node/`.

use std::process::Command;

use super::{Origin, announced};
use crate::certificates::Certificates;

/// Starts the server.
///
/// # Panics
/// When Node is not there or the script does not listen.
#[must_use]
pub fn start(certificates: &Certificates) -> Origin {
    let mut command = node("server.js");
    command.arg(certificates.certificate()).arg(certificates.key());
    let (program, clear, tls) = announced(&mut command);
    Origin::of("Node", clear, tls, vec![program])
}

/// The client, to be told what to ask for line by line.
#[must_use]
pub fn client() -> Command {
    node("client.js")
}

fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(format!("{}/peers/node/{script}", env!("CARGO_MANIFEST_DIR")));
    command
}
