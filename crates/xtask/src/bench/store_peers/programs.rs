//! Building and starting the servers, each on all cores and with an empty folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::super::program::{Core, Server, free_port, output};
use super::cell::Who;
use super::drive::Driver;
use super::tree;
use crate::command::{answer, cargo, needed_program, run};
use crate::tools;

/// The programs that were built.
pub(super) struct Programs {
    alula: PathBuf,
    load: PathBuf,
    rust: PathBuf,
    go: PathBuf,
    folder: PathBuf,
}

/// A server at work.
pub(super) struct Running {
    pub(super) who: Who,
    server: Server,
}

impl Programs {
    /// The first time takes some minutes.
    pub(super) fn build() -> Result<Self> {
        let folder = tools::folder().join("bench/stores");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
        run(&mut cargo(["build", "--release", "--package", "alula-bench", "--bin", "store-load"]))?;
        let release = tools::folder().with_file_name("release");
        Ok(Self {
            alula: release.join("alula"),
            load: release.join("store-load"),
            rust: rust()?,
            go: go(&tools::folder().join("bench"))?,
            folder,
        })
    }

    pub(super) fn driver(&self, divisor: u64) -> Driver {
        Driver { program: self.load.clone(), folder: self.folder.clone(), divisor }
    }

    /// Batches of fjall alone, flushed one after the other: lines of writes a batch, writes per second, and microseconds a batch.
    pub(super) fn floor(&self) -> Result<String> {
        let mut command = Command::new(&self.rust);
        command.arg("floor").arg(self.folder.join("floor"));
        Ok(output(command)?.0)
    }

    /// Objects as nginx has them.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    pub(super) fn start(&self, who: Who) -> Result<Running> {
        let data = self.folder.join(who.word());
        fs::create_dir_all(&data)?;
        let port = free_port()?;
        let (mut command, port) = self.command(who, &data, port)?;
        command.env_clear();
        let log = self.folder.join(format!("{}.log", who.word()));
        Ok(Running { who, server: Server::start(command, port, log, Core::last()?)? })
    }

    /// The command, and the port unless it tells that itself.
    fn command(&self, who: Who, data: &Path, port: u16) -> Result<(Command, Option<u16>)> {
        let mut command = Command::new(match who {
            Who::Alula => self.alula.clone(),
            Who::Axum => self.rust.clone(),
            Who::Pebble | Who::Bolt => self.go.clone(),
            Who::Nginx => needed_program("nginx")?,
        });
        let port = match who {
            Who::Alula => {
                command.args(["store", "--listen", &format!("127.0.0.1:{port}"), "--data"]).arg(data);
                Some(port)
            }
            Who::Axum => {
                command.arg(data);
                None
            }
            Who::Pebble | Who::Bolt => {
                command.arg(who.word()).arg(data);
                None
            }
            Who::Nginx => {
                let configuration = data.join("nginx.conf");
                fs::write(&configuration, self.nginx(data, port)?)?;
                command.args(["-e", "stderr", "-p"]).arg(data).arg("-c").arg(configuration);
                Some(port)
            }
        };
        Ok((command, port))
    }

    /// As many workers as the others have, no log, files that stay open.
    fn nginx(&self, data: &Path, port: u16) -> Result<String> {
        let user = answer(Command::new("id").arg("-un")).context("`id` says who we are")?;
        let (user, workers) = (user.trim(), std::thread::available_parallelism()?);
        let (files, data) = (self.files(), data.display());
        let files = files.display();
        Ok(format!(
            "daemon off;
user {user};
worker_processes {workers};
worker_rlimit_nofile 18000;
pid {data}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=17000;
    open_file_cache_valid 1h;
    default_type application/octet-stream;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{port};
        location / {{ root {files}; }}
    }}
}}
"
        ))
    }
}

impl Running {
    pub(super) const fn port(&self) -> u16 {
        self.server.port
    }

    pub(super) fn id(&self) -> u32 {
        self.server.id()
    }

    pub(super) fn cpu(&self) -> Result<Duration> {
        tree::cpu(self.id())
    }

    pub(super) fn memory(&self) -> Result<u64> {
        tree::memory(self.id())
    }

    pub(super) fn stop(self) -> Result<()> {
        self.server.stop(matches!(self.who, Who::Alula | Who::Nginx)).map(drop)
    }
}

fn sources(language: &str) -> PathBuf {
    repository_root().join("bench-peers").join(language)
}

fn rust() -> Result<PathBuf> {
    let target = tools::folder().with_file_name("bench-store");
    let mut build = cargo(["build", "--release", "--locked"]);
    run(build.current_dir(sources("store-rust")).env("CARGO_TARGET_DIR", &target))
        .context("the store on axum could not be built")?;
    Ok(target.join("release/alula-bench-store"))
}

fn go(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let program = folder.join("store-go");
    let mut build = Command::new("go");
    build.args(["build", "-mod=readonly", "-o"]).arg(&program).arg(".");
    run(build.current_dir(sources("store-go"))).context("the stores in Go could not be built")?;
    Ok(program)
}
