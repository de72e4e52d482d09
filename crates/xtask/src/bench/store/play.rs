//! Starting `alula store`, and the load beside it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use super::Way;
use crate::bench::build::Programs;
use crate::bench::program::{Core, Server, Under, args, free_port, output_within};

/// The time that a load may take.
const LOAD_MAX: Duration = Duration::from_secs(900);

/// An engine of `alula store`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Engine {
    Memory,
    Fjall,
}

impl Engine {
    pub(super) const ALL: [Self; 2] = [Self::Memory, Self::Fjall];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Fjall => "fjall",
        }
    }
}

/// What plays the workload.
pub(super) struct Playing<'p> {
    pub(super) programs: &'p Programs,
}

/// A store that runs, with its data.
pub(super) struct Running {
    pub(super) server: Server,
    pub(super) data: TempDir,
}

/// The figures of a load, which it tells in a line of JSON.
#[derive(Debug)]
pub(super) struct Answers(Value);

impl<'p> Playing<'p> {
    pub(super) const fn new(programs: &'p Programs) -> Self {
        Self { programs }
    }

    /// Starts a store that is empty but for an object beside, and waits until it is open: it listens before,
    /// and its threads come later.
    pub(super) fn start(&self, engine: Engine) -> Result<Running> {
        let data = TempDir::new_in(&self.programs.folder)?;
        let server = self.start_on(engine, data.path())?;
        self.answers("play", &server, &flags(&["--clients", "1", "--steps", "1", "--bucket", "first"]))?;
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
        let command = Under::OneCore.command(&self.programs.alula()?, &all, core)?;
        let log = self.programs.folder.join(format!("{}.log", engine.name()));
        Server::start(command, Some(port), log, core)
    }

    /// The load against a server, on the other core.
    pub(super) fn load(&self, work: &str, server: &Server, flags: &[String]) -> Result<Command> {
        let address = format!("127.0.0.1:{}", server.port);
        let all: Vec<OsString> = [args([work, &address]), args(flags)].concat();
        Under::OneCore.command(&self.programs.store_load()?, &all, Core::first())
    }

    /// The figures of a load.
    pub(super) fn answers(&self, work: &str, server: &Server, flags: &[String]) -> Result<Answers> {
        let command = self.load(work, server, &[flags, &["--json".to_owned()]].concat())?;
        Answers::parse(&output_within(command, LOAD_MAX)?.0)
    }
}

pub(super) fn flags(flags: &[&str]) -> Vec<String> {
    flags.iter().map(|flag| (*flag).to_owned()).collect()
}

/// The flags of the load for a way of asking.
pub(super) fn play_flags(way: &Way, steps: u64) -> Vec<String> {
    let (clients, steps) = (way.connections.to_string(), steps.to_string());
    let mut all = flags(&["--clients", &clients, "--steps", &steps]);
    all.extend(way.is_http2.then(|| "--http2".to_owned()));
    all
}

impl Answers {
    pub(super) fn parse(printed: &str) -> Result<Self> {
        let line = printed.lines().last().context("the load prints its figures")?;
        Ok(Self(serde_json::from_str(line).with_context(|| line.to_owned())?))
    }

    /// A figure of the whole run.
    pub(super) fn number(&self, name: &str) -> Result<f64> {
        self.0[name].as_f64().with_context(|| format!("no {name} in {}", self.0))
    }

    /// Microseconds within which half, 99 % and 99.9 % of a kind came; no numbers for a kind that was not
    /// asked for.
    pub(super) fn within(&self, kind: &str) -> [f64; 3] {
        ["p50", "p99", "p999"].map(|name| self.0[kind][name].as_f64().unwrap_or(f64::NAN))
    }

    /// The most of the kinds that were asked for.
    pub(super) fn slowest(&self, name: &str) -> f64 {
        let kinds = self.0.as_object().into_iter().flatten();
        kinds.filter_map(|(_, kind)| kind[name].as_f64()).fold(f64::NAN, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_load_are_read() {
        let line = r#"{"requests":7,"get":{"requests":7,"p50":1.0,"p99":2.5,"p999":3.0,"max":9.0},"put":{"requests":1,"p50":30.0,"p99":40.5,"p999":41.0,"max":41.0}}"#;
        let answers = Answers::parse(line).expect("one line");
        assert_eq!(answers.number("requests").expect("there"), 7.0);
        assert_eq!(answers.within("get"), [1.0, 2.5, 3.0]);
        assert!(answers.within("query")[0].is_nan());
        assert_eq!([answers.slowest("p50"), answers.slowest("p99")], [30.0, 40.5]);
        answers.number("seconds").unwrap_err();
    }
}
