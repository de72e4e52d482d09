//! Python's http.server with what the matrix asks for: see `peers/http_server.py`.

use std::process::Command;

use super::announced;
use crate::certificates::Certificates;
use crate::program::Program;
use crate::site::Site;

/// Starts it: it serves the site and answers in this version of HTTP. The ports are for clear text and for
/// TLS.
///
/// # Panics
/// When Python is not there, or the program does not listen.
#[must_use]
pub fn serving(certificates: &Certificates, site: &Site, version: &str) -> (Program, u16, u16) {
    let mut command = Command::new("python3");
    command.arg("-u").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/http_server.py"));
    command.arg(certificates.certificate()).arg(certificates.key()).arg(version).arg(site.folder().path());
    announced(&mut command)
}
