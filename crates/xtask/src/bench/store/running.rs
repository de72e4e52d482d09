//! Starting `alula store`, and the load beside it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::super::program::{Core, Server, Under, args, free_port, output_within};
use super::answers::Answers;
use super::cells::{Cell, Engine, Run};
use super::process::kernel_seconds;
use crate::command::{cargo, run};
use crate::tools;

/// The time that a load may take.
const LOAD_MAX: Duration = Duration::from_secs(900);

/// The programs that were built.
pub(super) struct Programs {
    pub(super) alula: PathBuf,
    pub(super) load: PathBuf,
    pub(super) reads: PathBuf,
    /// Data and logs.
    pub(super) folder: PathBuf,
}

/// A store that runs, with its data.
pub(super) struct Running {
    pub(super) server: Server,
    pub(super) data: TempDir,
}

impl Programs {
    pub(super) fn build() -> Result<Self> {
        let folder = tools::folder().join("bench/store");
        fs::create_dir_all(&folder)?;
        // The program is measured as users have it, and the load need not be quicker.
        run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
        let load = ["--bin", "store-load", "--example", "reads"];
        run(cargo(["build", "--release", "--package", "alula-bench"]).args(load))?;
        let release = tools::folder().with_file_name("release");
        Ok(Self {
            alula: release.join("alula"),
            load: release.join("store-load"),
            reads: release.join("examples/reads"),
            folder,
        })
    }

    /// Starts a store that is empty but for an object beside, and waits until it is open: it listens before, and its threads come later.
    pub(super) fn start(&self, engine: Engine) -> Result<Running> {
        let data = TempDir::new_in(&self.folder)?;
        let server = self.start_on(engine, data.path())?;
        self.answers("play", &server, &["--clients", "1", "--steps", "1", "--bucket", "first"])?;
        Ok(Running { server, data })
    }

    /// Starts a store on a folder, on the core of servers.
    pub(super) fn start_on(&self, engine: Engine, data: &Path) -> Result<Server> {
        let (port, core) = (free_port()?, Core::last()?);
        let listen = format!("127.0.0.1:{port}");
        let mut all = args(["store", "--listen", &listen, "--engine", engine.name()]);
        if engine == Engine::Fjall {
            all.extend(["--data".into(), data.into()]);
        }
        let command = Under::OneCore.command(&self.alula, &all, core)?;
        Server::start(command, Some(port), self.folder.join(format!("{}.log", engine.name())), core)
    }

    /// The load against a server, on the other core.
    pub(super) fn load(&self, work: &str, server: &Server, flags: &[&str]) -> Result<Command> {
        let address = format!("127.0.0.1:{}", server.port);
        let all: Vec<OsString> = [args([work, &address]), args(flags)].concat();
        Under::OneCore.command(&self.load, &all, Core::first())
    }

    /// The figures of a load.
    pub(super) fn answers(&self, work: &str, server: &Server, flags: &[&str]) -> Result<Answers> {
        let command = self.load(work, server, &[flags, &["--json"]].concat())?;
        Answers::parse(&output_within(command, LOAD_MAX)?.0)
    }

    /// Plays the workload on an empty store.
    pub(super) fn play(&self, cell: &Cell, steps: u64) -> Result<Run> {
        let running = self.start(cell.engine)?;
        let server = &running.server;
        let (before, kernel) = (server.cpu_time()?, kernel_seconds(server.id())?);
        let flags = play_flags(cell, steps);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let answers = self.answers("play", server, &flags).with_context(|| cell.label())?;
        let requests = answers.number("requests")?;
        let each = |seconds: f64| seconds * 1e6 / requests;
        let run = Run {
            requests,
            per_second: answers.number("per_second")?,
            cpu: each((server.cpu_time()? - before).as_secs_f64()),
            kernel: each(kernel_seconds(server.id())? - kernel),
            within: answers.within().collect(),
        };
        running.server.stop(true)?;
        Ok(run)
    }
}

/// The flags of the load for a cell.
pub(super) fn play_flags(cell: &Cell, steps: u64) -> Vec<String> {
    let (clients, steps) = (cell.connections.to_string(), steps.to_string());
    let mut flags = vec!["--clients".to_owned(), clients, "--steps".to_owned(), steps];
    flags.extend(cell.is_http2.then(|| "--http2".to_owned()));
    flags
}
