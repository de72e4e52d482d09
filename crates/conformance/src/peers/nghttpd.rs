//! nghttpd, of the nghttp2 project: one process for clear text, one for TLS.

use std::process::Command;

use super::Origin;
use crate::certificates::Certificates;
use crate::ports;
use crate::program::Program;
use crate::site::Site;

/// Serves the site.
///
/// # Panics
/// When nghttpd is not there or does not listen.
#[must_use]
pub fn start(site: &Site, certificates: &Certificates) -> Origin {
    start_with(site, certificates, Vec::new())
}

/// As [`start`], with more options.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn start_with(site: &Site, certificates: &Certificates, options: Vec<String>) -> Origin {
    let (clear, tls) = (ports::free(), ports::free());
    let mut plain = command(site, &options);
    plain.arg("--no-tls").arg(clear.to_string());
    let mut secure = command(site, &options);
    secure.arg(tls.to_string()).arg(certificates.key()).arg(certificates.certificate());
    let programs = vec![listening(&mut plain, clear), listening(&mut secure, tls)];
    Origin::of("nghttpd", clear, tls, programs)
}

fn command(site: &Site, options: &[String]) -> Command {
    let mut command = Command::new("nghttpd");
    command.args(["--address", "127.0.0.1", "--htdocs"]).arg(site.folder().path()).args(options);
    command
}

fn listening(command: &mut Command, port: u16) -> Program {
    let mut program = Program::start(command);
    program.wait_for_port(port);
    program
}
