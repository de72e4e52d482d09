//! The programs that hold connections, and those at the other end.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::nginx::Configuration;
use super::program::{Core, Server, Under, args, free_port};
use super::{build, start};
use crate::command::{answer, cargo, needed_program, run};
use crate::tools;

/// A program, as it is called in tables.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Who {
    Alula,
    /// A connection of tokio-rustls, without HTTP.
    Rustls,
    Hyper,
    Nginx,
    H2o,
}

/// The version of HTTP, and TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Kind {
    pub(super) is_http2: bool,
    pub(super) is_secure: bool,
}

/// The programs that were built, and the files that all share.
pub(super) struct Programs {
    /// The example `idle` of `crates/bench`.
    idle: PathBuf,
    rust: PathBuf,
    folder: PathBuf,
}

/// The streams that a client may have open on a connection, where nothing else is said.
const STREAMS: u32 = 100;

/// The octets of an answer.
const CONTENT: usize = 1024;

impl Who {
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Alula => "Alula",
            Self::Rustls => "rustls alone",
            Self::Hyper => "hyper",
            Self::Nginx => "nginx",
            Self::H2o => "h2o",
        }
    }

    /// As `--only` names it.
    pub(super) fn is_named(self, name: &str) -> bool {
        self.label().split(' ').next().is_some_and(|own| own.eq_ignore_ascii_case(name))
    }
}

impl Kind {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        ways.into_iter().map(|(is_http2, is_secure)| Self { is_http2, is_secure })
    }

    pub(super) const fn version(self) -> &'static str {
        if self.is_http2 { "h2" } else { "h1" }
    }

    pub(super) fn label(self) -> String {
        let version = if self.is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        format!("{version}, {}", if self.is_secure { "TLS" } else { "clear text" })
    }
}

/// Allows this process, and all that it starts, as many descriptors as the system does.
pub(super) fn raise_descriptors() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

impl Programs {
    pub(super) fn build() -> Result<Self> {
        let folder = tools::folder().join("bench/idle");
        fs::create_dir_all(folder.join("site"))?;
        fs::write(folder.join("site/memory"), content())?;
        start::certify(&folder)?;
        run(&mut cargo(["build", "--profile", "bench", "--package", "alula-bench", "--example", "idle"]))?;
        let idle = tools::folder().with_file_name("release").join("examples/idle");
        Ok(Self { idle, rust: build::rust()?, folder })
    }

    /// A server on a core of its own.
    pub(super) fn server(&self, who: Who, kind: Kind) -> Result<Server> {
        self.server_with(who, kind, STREAMS)
    }

    /// The same, with so many streams on a connection.
    pub(super) fn server_with(&self, who: Who, kind: Kind, streams: u32) -> Result<Server> {
        let (port, streams) = (free_port()?, streams.to_string());
        let (program, all, port) = match who {
            Who::Alula => (self.idle.clone(), self.with_tls(&["serve", "127.0.0.1:0", &streams], kind), None),
            Who::Rustls => {
                (self.rust.clone(), self.with_tls(&["hold", "rustls", "serve", kind.version()], kind), None)
            }
            Who::Hyper => {
                let words = ["hold", "hyper", "serve", kind.version(), &streams];
                (self.rust.clone(), self.with_tls(&words, kind), None)
            }
            Who::Nginx => {
                let (program, all) = self.nginx(kind, &streams).command(&self.folder, port)?;
                (program, all, Some(port))
            }
            Who::H2o => {
                let configuration = self.folder.join(format!("h2o-{port}.conf"));
                fs::write(&configuration, self.h2o(port, &streams)?)?;
                (needed_program("h2o")?, args([OsString::from("-c"), configuration.into()]), Some(port))
            }
        };
        self.start(&program, &all, port, &format!("{who:?}-server"), Core::last()?)
    }

    /// The one that clients connect to, on all addresses of this machine.
    pub(super) fn server_of_clients(&self, kind: Kind) -> Result<Server> {
        let streams = STREAMS.to_string();
        let all = self.with_tls(&["serve", "0.0.0.0:0", &streams], kind);
        self.start(&self.idle, &all, None, "server", Core::first())
    }

    /// The process at the other end of a server's connections; it makes them when it is asked.
    pub(super) fn holder(&self, kind: Kind, used: &str, connections: u64, port: u16) -> Result<Server> {
        let (port, connections) = (port.to_string(), connections.to_string());
        let all = self.with_roots(&["hold", kind.version(), used, &port, &connections], kind);
        self.start(&self.idle, &all, None, "holder", Core::first())
    }

    /// A client, which makes its connections when it is asked.
    pub(super) fn client(
        &self,
        who: Who,
        kind: Kind,
        used: &str,
        connections: u64,
        port: u16,
    ) -> Result<Server> {
        let (port, connections) = (port.to_string(), connections.to_string());
        let version = kind.version();
        let (program, all) = if who == Who::Alula {
            let tls = kind.is_secure.then_some("tls");
            let words = ["client", version, &port, &connections];
            (&self.idle, args(words.into_iter().chain(tls)))
        } else {
            let peer = if who == Who::Hyper { "hyper" } else { "rustls" };
            let words = ["hold", peer, "client", version, used, &port, &connections];
            (&self.rust, self.with_roots(&words, kind))
        };
        self.start(program, &all, None, &format!("{who:?}-client"), Core::last()?)
    }

    fn start(
        &self,
        program: &Path,
        all: &[OsString],
        port: Option<u16>,
        name: &str,
        core: Core,
    ) -> Result<Server> {
        let log = self.folder.join(format!("{name}.log"));
        Server::start(Under::OneCore.command(program, all, core)?, port, log, core)
    }

    /// The words, then certificate and key where there is TLS.
    fn with_tls(&self, words: &[&str], kind: Kind) -> Vec<OsString> {
        let mut all = args(words);
        if kind.is_secure {
            all.extend([self.certificate().into(), self.key().into()]);
        }
        all
    }

    /// The words, then the authority where there is TLS.
    fn with_roots(&self, words: &[&str], kind: Kind) -> Vec<OsString> {
        let mut all = args(words);
        if kind.is_secure {
            all.push(self.folder.join("authority.pem").into());
        }
        all
    }

    fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// Answers from memory.
    fn nginx(&self, Kind { is_http2, is_secure }: Kind, streams: &str) -> Configuration {
        Configuration {
            connections: 12_000,
            is_http2,
            tls: is_secure.then(|| [self.certificate(), self.key()]),
            directives: format!("http2_max_concurrent_streams {streams};"),
            locations: format!(
                "location = /memory {{ default_type text/plain; return 200 \"{}\"; }}",
                content()
            ),
        }
    }

    /// One thread, and a file that it keeps open.
    fn h2o(&self, port: u16, streams: &str) -> Result<String> {
        let user = answer(Command::new("id").arg("-un")).context("`id` says who we are")?;
        let (user, site) = (user.trim(), self.folder.join("site"));
        Ok(format!(
            "user: {user}
num-threads: 1
max-connections: 12000
http2-max-concurrent-requests-per-connection: {streams}
listen:
  host: 127.0.0.1
  port: {port}
hosts:
  default:
    paths:
      /:
        file.dir: {}
",
            site.display()
        ))
    }
}

/// Ends a server.
pub(super) fn stop(who: Who, server: Server) -> Result<()> {
    server.stop(matches!(who, Who::Nginx | Who::H2o)).map(drop)
}

fn content() -> String {
    "a".repeat(CONTENT)
}
