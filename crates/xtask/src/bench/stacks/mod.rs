//! Stacks at the same work: in memory, as clients of a server that writes frames made before, and as servers
//! under a load.

mod contests;
mod count;
mod floor;
mod run;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::build::Programs;
use super::configuration::{Configuration, Started, h2o_files, nginx_memory};
use super::load;
use super::machine;
use super::options::Options;
use super::program::{Core, Server, Under, args, free_port, output, taken};
use super::report::measure::{Measure, few, fine, less, more, told, whole};
use super::suite::{By, Contest, Entry, Suite};
use crate::command::needed_program;
use crate::costs::figures::Figures;
use crate::costs::table::thousands;

pub(super) use contests::contests;

/// The contests with the same measures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Group {
    Memory,
    Clients,
    Servers,
}

impl Group {
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Clients, Self::Servers];
}

/// The work of a contest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// Something in memory: so many units are timed, so many counted.
    Memory { timed: u64, counted: u64 },
    /// Requests of a client.
    Client(Asking),
    /// A server under a load.
    Server(Load),
}

/// The version that is spoken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// The requests of a client: so many are timed, so many counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asking {
    pub(super) version: Version,
    /// On one connection of HTTP/2, on as many of HTTP/1.1.
    pub(super) in_flight: u64,
    /// Bytes of each answer.
    pub(super) content: u64,
    /// True if each request and each answer has other ids.
    pub(super) varies: bool,
    pub(super) timed: u64,
    pub(super) counted: u64,
}

/// The requests that a server is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) version: Version,
    pub(super) traffic: Traffic,
    pub(super) requests: u64,
    pub(super) connections: u64,
    pub(super) in_flight: u64,
    /// Requests whose instructions and allocations are counted; none are where it would say nothing new.
    pub(super) counted: u64,
}

/// The manner in which requests differ, as `alula-bench load` has it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Traffic {
    /// Those of h2load, byte for byte.
    Repeated,
    Varied,
    Proxied,
}

impl Traffic {
    const fn name(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Varied => "varied",
            Self::Proxied => "proxied",
        }
    }
}

/// So much content and more is not held against instructions: they are those of the C library's `memcpy`, or
/// of another.
const MUCH: u64 = 100 * 1024;

static IN_MEMORY: [Measure; 3] =
    [told("ns", whole), told("instructions", thousands), told("allocations", few)];
static OVER_SOCKETS: [Measure; 4] = [
    more("per second", thousands),
    less("CPU, µs", fine),
    less("instructions", thousands),
    less("allocations", few),
];

/// A server that runs: who it is, and the version and the traffic as far as they tell it from others.
type Key = (&'static str, String, Version, Option<Traffic>);

/// One group of contests.
pub(super) struct Stacks<'p> {
    group: Group,
    programs: &'p Programs,
    core: Core,
    divisor: u64,
    counts_instructions: bool,
    /// The servers that clients ask, by the contest: the one that answers frames made before, and the
    /// floor's.
    asked: BTreeMap<String, [Server; 2]>,
    /// The servers that are loaded, each idle but when it is its turn.
    loaded: BTreeMap<Key, (Entry, Server)>,
    /// Instructions of Alula's own workloads.
    own: Option<Figures>,
}

impl<'p> Stacks<'p> {
    pub(super) fn new(group: Group, programs: &'p Programs, options: &Options) -> Result<Self> {
        let &Options { divisor, counts_instructions, .. } = options;
        Ok(Self {
            group,
            programs,
            core: Core::last()?,
            divisor,
            counts_instructions,
            asked: BTreeMap::new(),
            loaded: BTreeMap::new(),
            own: None,
        })
    }

    /// Times a program that does so many units and ends: nanoseconds per unit, and those of the CPU.
    fn time(&mut self, contest: &Contest<Work>, entry: &Entry, timed: u64) -> Result<[f64; 2]> {
        let units = (timed / self.divisor).max(1);
        let command = self.command(Under::OneCore, contest, entry, units)?;
        let described = format!("{command:?}");
        let (printed, _) = output(command)?;
        let figures: Vec<f64> = printed.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [wall, cpu] = figures[..] else { bail!("{described}: {printed}") };
        Ok([wall / units as f64, cpu / units as f64])
    }

    /// Loads a server: nanoseconds of its CPU per request, and requests per second.
    fn load(&mut self, entry: &Entry, load: Load) -> Result<[f64; 2]> {
        let key: Key =
            (entry.label, entry.work.clone(), load.version, entry.is_floor().then_some(load.traffic));
        if !self.loaded.contains_key(&key) {
            let server = run::start(self.programs, entry, load, Under::OneCore, self.core)?;
            self.loaded.insert(key.clone(), (entry.clone(), server));
        }
        let (programs, requests) = (self.programs, load.requests / self.divisor);
        let (_, server) = self.loaded.get(&key).context("it runs")?;
        run::drive(programs, entry, server, load, requests / 10)?;
        let before = server.cpu()?;
        let per_second = run::drive(programs, entry, server, load, requests)?;
        let cpu = taken(&before, &server.cpu()?).with_context(|| entry.label)?;
        Ok([cpu as f64 / requests as f64, per_second])
    }

    /// The time of requests made without an answer is not taken: Alula's machine wants its streams closed.
    fn has_time(entry: &Entry) -> bool {
        !(entry.by == By::Alula && entry.work.starts_with("created-alone"))
    }
}

impl Suite for Stacks<'_> {
    type Work = Work;

    fn name(&self) -> &'static str {
        match self.group {
            Group::Memory => "memory",
            Group::Clients => "clients",
            Group::Servers => "servers",
        }
    }

    fn measures(&self) -> &'static [Measure] {
        if self.group == Group::Memory { &IN_MEMORY } else { &OVER_SOCKETS }
    }

    fn contests(&self) -> Vec<Contest<Work>> {
        contests(self.group)
    }

    fn measure(&mut self, contest: &Contest<Work>, entry: &Entry, _: usize) -> Result<Vec<f64>> {
        Ok(match contest.work {
            Work::Memory { timed, .. } if Self::has_time(entry) => {
                let [wall, _] = self.time(contest, entry, timed)?;
                vec![wall]
            }
            Work::Memory { .. } => vec![f64::NAN],
            Work::Client(asking) => {
                let [wall, cpu] = self.time(contest, entry, asking.timed)?;
                vec![1e9 / wall, cpu / 1000.0]
            }
            Work::Server(load) => {
                let [cpu, per_second] = self.load(entry, load)?;
                vec![per_second, cpu / 1000.0]
            }
        })
    }

    fn count(&mut self, contest: &Contest<Work>, entry: &Entry) -> Result<Vec<(&'static str, f64)>> {
        let mut counts = Vec::new();
        counts.extend(self.allocations(contest, entry)?.map(|count| ("allocations", count)));
        if self.counts_instructions {
            counts.extend(self.instructions(contest, entry)?.map(|count| ("instructions", count)));
        }
        Ok(counts)
    }

    fn heading(&self) -> Result<String> {
        let all = [
            "hyper",
            "hyper-util",
            "h2",
            "http",
            "reqwest",
            "ureq",
            "axum",
            "tokio",
            "fluke-hpack",
            "httlib-hpack",
            "curl-sys",
            "libnghttp2-sys",
        ];
        machine::sentence("bench-peers/rust/Cargo.lock", &all, &["nghttpd", "h2o", "nginx"])
    }

    fn end(&mut self) -> Result<()> {
        std::mem::take(&mut self.loaded)
            .into_values()
            .try_for_each(|(entry, server)| run::stop(&entry, server).map(drop))
    }
}
