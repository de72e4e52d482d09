//! Starting each server for one work, each with one worker thread.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::super::nginx::Configuration;
use super::super::program::{Core, Server, Under, args, free_port};
use super::matrix::{Who, Work};
use crate::command::{answer, needed_program};

/// The programs that were built, and the files that all share.
pub(super) struct Programs {
    pub(super) alula: PathBuf,
    pub(super) alula_serve: PathBuf,
    pub(super) rust: PathBuf,
    pub(super) go: PathBuf,
    /// Certificates, the site, routes, configurations and logs.
    pub(super) folder: PathBuf,
}

/// Which process: one for each work, version and kind of connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Process {
    pub(super) who: Who,
    pub(super) work: Work,
    pub(super) is_http1: bool,
    pub(super) is_secure: bool,
}

impl Programs {
    fn site(&self) -> PathBuf {
        self.folder.join("site")
    }

    fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// Starts it on a core.
    pub(super) fn start(&self, process: Process, core: Core) -> Result<Server> {
        let (program, args, port) = self.command(process)?;
        let log = self.folder.join(format!("{process:?}.log").replace([' ', '{', '}', ',', ':'], "-"));
        let command = Under::OneCore.command(&program, &args, core)?;
        Server::start(command, port, log, core).with_context(|| format!("{process:?}"))
    }

    /// The program, its arguments, and the port unless it tells that itself.
    fn command(&self, process: Process) -> Result<(PathBuf, Vec<OsString>, Option<u16>)> {
        let Process { who, work, is_http1, is_secure } = process;
        let version = if is_http1 { "h1" } else { "h2" };
        let site = self.site().into_os_string();
        let tls = if is_secure { vec![self.certificate().into(), self.key().into()] } else { Vec::new() };
        let port = free_port()?;
        Ok(match who {
            Who::Alula => (self.alula.clone(), [args([work.name()]), vec![site], tls].concat(), None),
            Who::AlulaServe => {
                let listen = args(["--listen", &format!("127.0.0.1:{port}")]);
                let flags = [[OsString::from("--cert")], [OsString::from("--key")]];
                let tls = flags.into_iter().zip(tls).flat_map(|([flag], file)| [flag, file]);
                let all = args(["serve"]).into_iter().chain([site]).chain(listen).chain(tls);
                (self.alula_serve.clone(), all.collect(), Some(port))
            }
            Who::Hyper | Who::Axum => {
                let peer = if who == Who::Hyper { "hyper" } else { "axum" };
                let words = args([peer, "works", work.name(), version]);
                (self.rust.clone(), [words, vec![site], tls].concat(), None)
            }
            Who::Go => {
                let words = args(["works", work.name(), version]);
                let routes = self.folder.join("routes").into_os_string();
                (self.go.clone(), [words, vec![site, routes], tls].concat(), None)
            }
            Who::Nginx => {
                let (program, all) = self.nginx(process).command(&self.folder, port)?;
                (program, all, Some(port))
            }
            Who::H2o => {
                let configuration = self.folder.join(format!("h2o-{port}.conf"));
                fs::write(&configuration, self.h2o(process, port)?)?;
                (needed_program("h2o")?, args([OsString::from("-c"), configuration.into()]), Some(port))
            }
        })
    }

    /// Answers from memory, and files that stay open.
    fn nginx(&self, Process { is_http1, is_secure, .. }: Process) -> Configuration {
        // By sendfile over HTTP/2 a head and its content wait 40 ms for an acknowledgement of each other.
        let sendfile = if is_http1 { "on" } else { "off" };
        let (site, content) = (self.site(), content());
        Configuration {
            connections: 1024,
            is_http2: !is_http1,
            tls: is_secure.then(|| [self.certificate(), self.key()]),
            directives: format!(
                "sendfile {sendfile}; tcp_nopush {sendfile}; open_file_cache max=100; types {{ text/plain txt; }}"
            ),
            locations: format!(
                "location = /memory {{ default_type text/plain; return 200 \"{content}\"; }} location / {{ root {}; }}",
                site.display()
            ),
        }
    }

    /// One thread. Content from memory is a script's.
    fn h2o(&self, Process { work, is_secure, .. }: Process, port: u16) -> Result<String> {
        let user = answer(Command::new("id").arg("-un")).context("`id` says who we are")?;
        let (user, content) = (user.trim(), content());
        let tls = if is_secure {
            let (certificate, key) = (self.certificate(), self.key());
            format!(
                "  ssl:\n    certificate-file: {}\n    key-file: {}\n    ocsp-update-interval: 0\n",
                certificate.display(),
                key.display()
            )
        } else {
            String::new()
        };
        let handler = match work {
            Work::Memory => format!(
                "        mruby.handler: |\n          content = \"{content}\"\n          Proc.new do |env|\n            \
                 [200, {{\"content-type\" => \"text/plain\"}}, [content]]\n          end\n"
            ),
            _ => format!("        file.dir: {}\n", self.site().display()),
        };
        Ok(format!(
            "user: {user}\nnum-threads: 1\nlisten:\n  host: 127.0.0.1\n  port: {port}\n{tls}hosts:\n  default:\n    paths:\n      \
             /:\n{handler}"
        ))
    }
}

/// Ends it.
pub(super) fn stop(who: Who, server: Server) -> Result<()> {
    server.stop(matches!(who, Who::AlulaServe | Who::Nginx | Who::H2o)).map(drop)
}

/// 1 KiB.
pub(super) fn content() -> String {
    "a".repeat(1024)
}

/// The site: one file.
pub(super) fn write_site(folder: &Path) -> Result<()> {
    let site = folder.join("site");
    fs::create_dir_all(&site)?;
    Ok(fs::write(site.join("kib.txt"), content())?)
}
