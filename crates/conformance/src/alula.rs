//! The `alula` program: one command that runs to its end, or its debugging server beside the test.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::certificates::Certificates;
use crate::environment;
use crate::outcome::{self, Outcome};
use crate::program::Program;

/// Longer than any fetch over loopback takes, however loaded the machine is.
const END_MAX: Duration = Duration::from_secs(60);

/// How the client reaches an origin.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'a> {
    /// In clear text, knowing beforehand that it is HTTP/2 (RFC 9113 §3.3).
    Clear,
    /// Over TLS, trusting this authority.
    Tls(&'a Certificates),
}

impl Reach<'_> {
    /// The URL of a path at this port; `localhost` over TLS, since that is the certificates' name.
    #[must_use]
    pub fn url(&self, port: u16, path: &str) -> String {
        match self {
            Self::Clear => format!("http://127.0.0.1:{port}/{path}"),
            Self::Tls(_) => format!("https://localhost:{port}/{path}"),
        }
    }

    /// The options of `alula get` for it.
    #[must_use]
    pub fn options(&self) -> Vec<PathBuf> {
        match self {
            Self::Clear => vec!["--http2-prior-knowledge".into()],
            Self::Tls(certificates) => vec!["--cacert".into(), certificates.authority()],
        }
    }
}

/// `alula` with these arguments.
#[must_use]
pub fn command<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(environment::program());
    command.args(arguments);
    command
}

/// Runs `alula` with these arguments to its end.
///
/// # Panics
/// When that takes more than a minute.
#[must_use]
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Outcome {
    outcome::run(&mut command(arguments), END_MAX)
}

/// Runs `alula METHOD URL`, reaching the origin in this way, with more arguments.
///
/// # Panics
/// When that takes more than a minute.
#[must_use]
pub fn fetch(method: &str, url: &str, reach: &Reach<'_>, more: &[&str]) -> Outcome {
    outcome::run(command([method, url]).args(reach.options()).args(more), END_MAX)
}

/// `alula echo` on a port of its own choosing, in clear text and over TLS on the same one.
pub struct Echo {
    program: Program,
    port: u16,
}

impl Echo {
    /// Starts it with this certificate.
    ///
    /// # Panics
    /// When it does not say where it listens.
    #[must_use]
    pub fn start(certificates: &Certificates) -> Self {
        Self::start_with(certificates, |_| ())
    }

    /// As [`start`](Self::start), after a last change of the command.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with(certificates: &Certificates, change: impl FnOnce(&mut Command)) -> Self {
        let mut echo = command(["echo", "--listen", "127.0.0.1:0", "--cert"]);
        echo.arg(certificates.certificate()).arg("--key").arg(certificates.key());
        change(&mut echo);
        let mut program = Program::start(&mut echo);
        let port = program.wait_for_line("says where it listens", listening_port);
        Self { program, port }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.program.id()
    }

    /// Its port, the same for clear text and TLS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, reach: &Reach<'_>, path: &str) -> String {
        reach.url(self.port, path)
    }

    /// Returns true if it still runs.
    pub fn is_running(&mut self) -> bool {
        self.program.is_running()
    }
}

/// `listening on http://127.0.0.1:8080`, whatever else the line says.
pub(crate) fn listening_port(line: &str) -> Option<u16> {
    let address = line.split_once("listening on http")?.1;
    let port = address.trim_start_matches('s').strip_prefix("://127.0.0.1:")?;
    port.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_port() {
        assert_eq!(listening_port("listening on http://127.0.0.1:8080"), Some(8080));
        assert_eq!(listening_port("listening on https://127.0.0.1:8443 (self-signed)"), Some(8443));
        assert_eq!(listening_port("cannot listen on 127.0.0.1:80"), None);
    }
}
