//! Work in memory and clients: programs that do so many units and end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{Asking, By, Contest, Entry, Kind, Version};
use super::floor;
use super::options::Options;
use super::program::{Core, Server, Under, args, output};
use super::results::Results;

/// All contests of that kind, and the servers that the clients ask.
pub(super) struct Loops<'a> {
    programs: &'a Programs,
    contests: &'a [Contest],
    core: Core,
    /// Of each contest of clients, the server that answers frames made before, and the floor's.
    servers: BTreeMap<&'static str, [Server; 2]>,
}

impl<'a> Loops<'a> {
    /// Starts the servers.
    pub(super) fn start(programs: &'a Programs, contests: &'a [Contest], core: Core) -> Result<Self> {
        let mut servers = BTreeMap::new();
        for contest in contests {
            if let Kind::Client(asking) = contest.kind {
                let floor::Octets { up, down } = floor::of_client(asking);
                let answers = args(fixed(asking));
                let bare = args(["floor", "block", "serve", &up.to_string(), &down.to_string()]);
                let start = |program, args: &[OsString], name: &str| {
                    let log = programs.folder.join(format!("{}-{name}-{core:?}.log", contest.name));
                    Server::start(Under::OneCore.command(program, args, core)?, None, log, core)
                };
                let both = [
                    start(programs.bench.program(), &answers, "answers")?,
                    start(&programs.rust, &bare, "floor")?,
                ];
                servers.insert(contest.name, both);
            }
        }
        Ok(Self { programs, contests, core, servers })
    }

    /// Where it all runs.
    pub(super) fn core(&self) -> Core {
        self.core
    }

    /// Times everybody once.
    pub(super) fn round(&self, options: &Options, results: &mut Results) -> Result<()> {
        for (contest, timed, _) in self.all() {
            let units = (timed / options.divisor).max(1);
            for entry in contest.entries.iter().filter(|entry| entry.is_timed()) {
                let command = self.command(Under::OneCore, contest, entry, units)?;
                let described = format!("{command:?}");
                let (printed, _) = output(command)?;
                let told = Told::parse(&printed).with_context(|| format!("{described}: {printed}"))?;
                let figures = results.of(contest, entry);
                figures.wall.push(told.wall / units as f64);
                figures.cpu.push(told.cpu / units as f64);
                figures.allocations = told.allocations.or(figures.allocations);
            }
        }
        Ok(())
    }

    /// The contests with the units that are timed and those that are counted.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a Contest, u64, u64)> {
        self.contests.iter().filter_map(|contest| match contest.kind {
            Kind::Memory { timed, counted } | Kind::Client(Asking { timed, counted, .. }) => {
                Some((contest, timed, counted))
            }
            Kind::Server(_) => None,
        })
    }

    /// What does so many units, under something.
    pub(super) fn command(
        &self,
        under: Under<'_>,
        contest: &Contest,
        entry: &Entry,
        units: u64,
    ) -> Result<Command> {
        let (program, args) = self.program(contest, entry, units)?;
        under.command(&program, &args, self.core)
    }

    /// The program and its arguments that do so many units.
    fn program(&self, contest: &Contest, entry: &Entry, units: u64) -> Result<(PathBuf, Vec<OsString>)> {
        let (programs, units) = (self.programs, units.to_string());
        let [answers, bare] = self.ports(contest);
        let lists = programs.lists.to_string_lossy();
        let rest = [entry.work, &units, &lists, &answers];
        Ok(match entry.by {
            By::Alula => (programs.bench.program().to_owned(), args(["time", entry.work, &units])),
            By::Rust => (programs.rust.clone(), args([entry.peer].iter().chain(&rest))),
            By::Go => (programs.go.clone(), args(rest)),
            By::Nghttp2 => (programs.nghttp2.clone(), args(rest)),
            By::Floor => (programs.rust.clone(), bare_client(contest.kind, entry, &units, &bare)?),
            other => anyhow::bail!("{other:?} is a server only"),
        })
    }

    fn ports(&self, contest: &Contest) -> [String; 2] {
        let port = |at: usize| self.servers.get(contest.name).map_or(0, |servers| servers[at].port);
        [port(0).to_string(), port(1).to_string()]
    }
}

/// The arguments of `alula-bench` for its fixed server.
fn fixed(asking: Asking) -> Vec<String> {
    let words: &[&str] = match (asking.version, asking.varies) {
        (Version::Http1, false) => &["peer", "http1-answers"],
        (Version::Http1, true) => &["peer", "http1-varied-answers"],
        (Version::Http2, false) => &["peer", "answers"],
        (Version::Http2, true) => &["peer", "answers", "varied"],
    };
    words.iter().map(|word| (*word).to_owned()).chain([asking.content.to_string()]).collect()
}

/// The floor's arguments: where requests of HTTP/1.1 are in flight, each has a connection.
fn bare_client(kind: Kind, entry: &Entry, units: &str, port: &str) -> Result<Vec<OsString>> {
    let Kind::Client(asking) = kind else { anyhow::bail!("the floor does nothing in memory") };
    let floor::Octets { up, down } = floor::of_client(asking);
    let (connections, each) = match asking.version {
        Version::Http1 => (asking.in_flight, 1),
        Version::Http2 => (1, asking.in_flight),
    };
    let numbers = [connections, each, up, down].map(|number| number.to_string());
    let mut all = args(["floor", entry.work, "client", units]);
    all.extend(args(numbers));
    all.push(port.into());
    Ok(all)
}

/// What a program prints: nanoseconds, those of the CPU, and allocations per unit where it counts them itself.
struct Told {
    wall: f64,
    cpu: f64,
    allocations: Option<f64>,
}

impl Told {
    fn parse(printed: &str) -> Option<Self> {
        let mut figures = printed.split_whitespace();
        let mut next = || figures.next()?.parse().ok();
        let (wall, cpu) = (next()?, next()?);
        Some(Self { wall, cpu, allocations: next() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_or_three_figures_are_read() {
        let told = Told::parse("1200 800 -\n").expect("two figures");
        assert_eq!((told.wall, told.cpu, told.allocations), (1200.0, 800.0, None));
        assert_eq!(Told::parse("1 2 0.5\n").and_then(|told| told.allocations), Some(0.5));
        assert!(Told::parse("panicked").is_none());
    }
}
