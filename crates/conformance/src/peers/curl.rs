//! curl, as the other client.

use std::process::Command;
use std::time::Duration;

use crate::alula::Reach;
use crate::outcome::{self, Outcome};

/// Fetches the URL over HTTP/2, reaching the origin in this way, with more arguments.
///
/// # Panics
/// When curl is not there or takes more than 30 seconds.
#[must_use]
pub fn fetch(url: &str, reach: &Reach<'_>, more: &[&str]) -> Outcome {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--max-time", "20"]).args(more);
    match reach {
        Reach::Clear => command.arg("--http2-prior-knowledge"),
        Reach::Tls(certificates) => command.args(["--http2", "--cacert"]).arg(certificates.authority()),
    };
    outcome::run(command.arg(url), Duration::from_secs(30))
}
