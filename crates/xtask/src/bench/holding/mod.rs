//! The programs that hold many connections, and those at the other end.

mod growth;
mod idle;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::build::{Programs, content};
use super::configuration::{Configuration, Started, h2o_files, nginx_memory};
use super::program::{Core, Server, Under, args, free_port};
use super::suite::{By, Entry};

pub(super) use growth::Growth;
pub(super) use idle::Idle;

/// The version of HTTP, and TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Kind {
    is_http2: bool,
    is_secure: bool,
}

/// The streams that a client may have open on a connection, where nothing else is said.
const STREAMS: u32 = 100;

impl Kind {
    fn all() -> impl Iterator<Item = Self> {
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        ways.into_iter().map(|(is_http2, is_secure)| Self { is_http2, is_secure })
    }

    const fn version(self) -> &'static str {
        if self.is_http2 { "h2" } else { "h1" }
    }

    fn label(self) -> String {
        let version = if self.is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        format!("{version}, {}", if self.is_secure { "TLS" } else { "clear text" })
    }
}

/// What holds connections.
struct Holding<'p> {
    programs: &'p Programs,
}

impl<'p> Holding<'p> {
    /// Allows this process, and all that it starts, as many descriptors as the system does.
    fn new(programs: &'p Programs) -> Result<Self> {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        Ok(Self { programs })
    }

    fn idle(&self) -> Result<PathBuf> {
        self.programs.example("idle")
    }

    /// A server on a core of its own, with so many streams on a connection.
    fn server(&self, entry: &Entry, kind: Kind, streams: u32) -> Result<Server> {
        let (program, all, port) = self.command(entry, kind, &streams.to_string())?;
        self.start(&program, &all, port, &format!("{}-server", entry.label), Core::last()?)
    }

    fn command(&self, entry: &Entry, kind: Kind, streams: &str) -> Result<Started> {
        let (programs, port) = (self.programs, free_port()?);
        let serve = ["hold", entry.peer, "serve", kind.version()];
        Ok(match entry.by {
            By::Alula => (self.idle()?, self.with_tls(&["serve", "127.0.0.1:0", streams], kind), None),
            By::Rust if entry.peer == "rustls" => (programs.rust()?, self.with_tls(&serve, kind), None),
            By::Rust => (programs.rust()?, self.with_tls(&[&serve[..], &[streams]].concat(), kind), None),
            By::Nginx => self.nginx(kind, streams).nginx(&programs.folder, port)?,
            By::H2o => Configuration {
                directives: format!(
                    "max-connections: 12000\nhttp2-max-concurrent-requests-per-connection: {streams}\n"
                ),
                locations: h2o_files(&programs.site()),
                ..Configuration::default()
            }
            .h2o(&programs.folder, port)?,
            other => bail!("{other:?} holds no connections"),
        })
    }

    /// Answers from memory.
    fn nginx(&self, Kind { is_http2, is_secure }: Kind, streams: &str) -> Configuration {
        Configuration {
            connections: 12_000,
            is_http2,
            tls: is_secure.then(|| self.programs.identity()),
            directives: format!("http2_max_concurrent_streams {streams};"),
            locations: nginx_memory("= /memory", &content()),
            workers: None,
        }
    }

    /// The server that clients connect to, on all addresses of this machine.
    fn server_of_clients(&self, kind: Kind) -> Result<Server> {
        let all = self.with_tls(&["serve", "0.0.0.0:0", &STREAMS.to_string()], kind);
        self.start(&self.idle()?, &all, None, "server", Core::first())
    }

    /// The process at the other end of a server's connections; it makes them when it is asked.
    fn holder(&self, kind: Kind, used: &str, connections: u64, port: u16) -> Result<Server> {
        let numbers = [port.to_string(), connections.to_string()];
        let words = ["hold", kind.version(), used, &numbers[0], &numbers[1]];
        self.start(&self.idle()?, &self.with_roots(&words, kind), None, "holder", Core::first())
    }

    /// A client, which makes its connections when it is asked.
    fn client(&self, entry: &Entry, kind: Kind, used: &str, connections: u64, port: u16) -> Result<Server> {
        let [port, connections] = [port.to_string(), connections.to_string()];
        let version = kind.version();
        let (program, all) = if entry.by == By::Alula {
            let tls = kind.is_secure.then_some("tls");
            (self.idle()?, args(["client", version, &port, &connections].into_iter().chain(tls)))
        } else {
            let words = ["hold", entry.peer, "client", version, used, &port, &connections];
            (self.programs.rust()?, self.with_roots(&words, kind))
        };
        self.start(&program, &all, None, &format!("{}-client", entry.label), Core::last()?)
    }

    fn start(
        &self,
        program: &Path,
        all: &[OsString],
        port: Option<u16>,
        name: &str,
        core: Core,
    ) -> Result<Server> {
        let log = self.programs.folder.join(format!("{name}.log"));
        Server::start(Under::OneCore.command(program, all, core)?, port, log, core)
    }

    /// The words, then certificate and key where there is TLS.
    fn with_tls(&self, words: &[&str], kind: Kind) -> Vec<OsString> {
        let files = kind.is_secure.then(|| self.programs.identity()).into_iter().flatten();
        args(words).into_iter().chain(files.map(PathBuf::into_os_string)).collect()
    }

    /// The words, then the authority where there is TLS.
    fn with_roots(&self, words: &[&str], kind: Kind) -> Vec<OsString> {
        let file = kind.is_secure.then(|| self.programs.folder.join("authority.pem").into_os_string());
        args(words).into_iter().chain(file).collect()
    }
}

/// Ends a server.
fn stop(entry: &Entry, server: Server) -> Result<()> {
    server.stop(matches!(entry.by, By::Nginx | By::H2o)).map(drop)
}
