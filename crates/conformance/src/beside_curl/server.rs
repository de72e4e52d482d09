//! A server as both programs reach it.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use crate::alula;
use crate::certificates::Certificates;
use crate::outcome::{self, Outcome};
use crate::program::Program;
use crate::site::Site;

/// Longer than any exchange over loopback takes, however loaded the machine is.
const END_MAX: Duration = Duration::from_secs(60);

/// How a server is reached: the version, and in clear text or over TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// HTTP/1.1 in clear text.
    Http1,
    /// HTTP/1.1 over TLS.
    Http1Tls,
    /// HTTP/2 in clear text, with prior knowledge.
    Http2,
    /// HTTP/2 over TLS.
    Http2Tls,
}

impl Way {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Http1, Self::Http1Tls, Self::Http2, Self::Http2Tls];
    /// Those of HTTP/1.1.
    pub const OLD: &'static [Self] = &[Self::Http1, Self::Http1Tls];
    /// Those of HTTP/2.
    pub const NEW: &'static [Self] = &[Self::Http2, Self::Http2Tls];

    /// As start lines begin.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::Http1 | Self::Http1Tls => "HTTP/1.",
            Self::Http2 | Self::Http2Tls => "HTTP/2 ",
        }
    }

    const fn is_tls(self) -> bool {
        matches!(self, Self::Http1Tls | Self::Http2Tls)
    }

    /// The option, spelled the same for both programs.
    const fn option(self) -> &'static str {
        match self {
            Self::Http1 | Self::Http1Tls => "--http1.1",
            Self::Http2 => "--http2-prior-knowledge",
            Self::Http2Tls => "--http2",
        }
    }
}

/// The ports of a server.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// HTTP/1.1 in clear text.
    pub http1: u16,
    /// HTTP/2 in clear text.
    pub http2: u16,
    /// TLS.
    pub tls: u16,
}

/// A server that runs, what it serves and how it is trusted.
pub struct Server {
    /// Where it listens.
    pub ports: Ports,
    /// Its files.
    pub site: Site,
    /// Its certificate.
    pub certificates: Certificates,
    /// Kept for their end.
    pub programs: Vec<Program>,
}

/// The same request by both programs.
#[derive(Debug)]
pub struct Pair {
    /// By ours.
    pub alula: Vec<u8>,
    /// By curl.
    pub curl: Vec<u8>,
}

impl Server {
    /// The URL of a path, reached this way.
    #[must_use]
    pub fn url(&self, way: Way, path: &str) -> String {
        let port = match way {
            Way::Http1 => self.ports.http1,
            Way::Http2 => self.ports.http2,
            Way::Http1Tls | Way::Http2Tls => self.ports.tls,
        };
        if way.is_tls() {
            format!("https://localhost:{port}/{path}")
        } else {
            format!("http://127.0.0.1:{port}/{path}")
        }
    }

    /// Asks by `alula METHOD` with these options.
    ///
    /// # Panics
    /// When that takes more than a minute.
    #[must_use]
    pub fn alula(&self, way: Way, method: &str, path: &str, options: &[&str]) -> Outcome {
        let mut command = alula::command([method, &self.url(way, path)]);
        outcome::run(command.args(self.options(way)).args(options), END_MAX)
    }

    /// Asks by curl with the same options.
    ///
    /// # Panics
    /// As [`Self::alula`].
    #[must_use]
    pub fn curl(&self, way: Way, path: &str, options: &[&str]) -> Outcome {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", &self.url(way, path)]);
        outcome::run(command.args(self.options(way)).args(options), END_MAX)
    }

    /// Gets the path by both, and is answered by both.
    ///
    /// # Panics
    /// When one of them fails.
    #[must_use]
    #[track_caller]
    pub fn both(&self, way: Way, method: &str, path: &str, options: &[&str]) -> Pair {
        Pair {
            alula: self.alula(way, method, path, options).expect_success().stdout,
            curl: self.curl(way, path, options).expect_success().stdout,
        }
    }

    fn options(&self, way: Way) -> Vec<OsString> {
        let mut options = vec![way.option().into()];
        if way.is_tls() {
            options.extend(["--cacert".into(), self.certificates.authority().into_os_string()]);
        }
        options
    }
}
