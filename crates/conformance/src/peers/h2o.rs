//! h2o, with a configuration of its own.

use std::process::Command;

use super::Origin;
use crate::certificates::Certificates;
use crate::ports;
use crate::program::Program;
use crate::site::Site;

/// Serves the site, with more entries of `paths`.
///
/// # Panics
/// When h2o is not there or does not listen.
#[must_use]
pub fn start(site: &Site, certificates: &Certificates, paths: &str) -> Origin {
    let (clear, tls) = (ports::free(), ports::free());
    site.folder().write(CONFIGURATION, text(site, certificates, paths, clear, tls));
    Origin::of("h2o", clear, tls, vec![listening(site, clear, tls)])
}

/// Another process with the same configuration on the same ports, once the first has left them.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn take_over(origin: &Origin, site: &Site) -> Program {
    ports::wait_until_free(origin.clear);
    ports::wait_until_free(origin.tls);
    listening(site, origin.clear, origin.tls)
}

const CONFIGURATION: &str = ".h2o.conf";

fn listening(site: &Site, clear: u16, tls: u16) -> Program {
    let mut command = Command::new("h2o");
    command.arg("--conf").arg(site.folder().join(CONFIGURATION));
    let mut program = Program::start(&mut command);
    program.wait_for_port(clear);
    program.wait_for_port(tls);
    program
}

fn text(site: &Site, certificates: &Certificates, paths: &str, clear: u16, tls: u16) -> String {
    format!(
        "num-threads: 1
listen:
  host: 127.0.0.1
  port: {clear}
listen:
  host: 127.0.0.1
  port: {tls}
  ssl:
    certificate-file: {certificate}
    key-file: {key}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
{paths}",
        certificate = certificates.certificate().display(),
        key = certificates.key().display(),
        root = site.folder().path().display(),
    )
}
