//! Work in memory and clients: programs that do so many units and end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{By, Contest, Entry, Kind};
use super::floor;
use super::options::Options;
use super::program::{Server, Under, args, output};
use super::results::Results;

/// All contests of that kind, and the servers that the clients ask.
pub(super) struct Loops<'a> {
    programs: &'a Programs,
    contests: &'a [Contest],
    /// Of each contest of clients, the server that answers frames made before, and the floor's.
    servers: BTreeMap<&'static str, [Server; 2]>,
}

impl<'a> Loops<'a> {
    /// Starts the servers.
    pub(super) fn start(programs: &'a Programs, contests: &'a [Contest]) -> Result<Self> {
        let mut servers = BTreeMap::new();
        for contest in contests {
            if let Kind::Client { content, .. } = contest.kind {
                let (up, down) = floor::octets(contest.kind);
                let answers = args(["peer", "answers", &content.to_string()]);
                let bare = args(["floor", "block", "serve", &up.to_string(), &down.to_string()]);
                let start = |program, args: &[OsString], name: &str| {
                    let log = programs.folder.join(format!("{}-{name}.log", contest.name));
                    Server::start(Under::OneCore.command(program, args)?, None, log)
                };
                let both = [
                    start(programs.bench.program(), &answers, "answers")?,
                    start(&programs.rust, &bare, "floor")?,
                ];
                servers.insert(contest.name, both);
            }
        }
        Ok(Self { programs, contests, servers })
    }

    /// Times everybody once.
    pub(super) fn round(&self, options: &Options, results: &mut Results) -> Result<()> {
        for (contest, timed, _) in self.all() {
            let units = (timed / options.divisor).max(1);
            for entry in contest.entries.iter().filter(|entry| entry.is_timed()) {
                let (program, args) = self.command(contest, entry, units)?;
                let (printed, _) = output(Under::OneCore.command(&program, &args)?)?;
                let told = Told::parse(&printed).with_context(|| format!("{args:?}: {printed}"))?;
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
            Kind::Memory { timed, counted } | Kind::Client { timed, counted, .. } => {
                Some((contest, timed, counted))
            }
            Kind::Server(_) => None,
        })
    }

    /// The program and its arguments that do so many units.
    pub(super) fn command(
        &self,
        contest: &Contest,
        entry: &Entry,
        units: u64,
    ) -> Result<(PathBuf, Vec<OsString>)> {
        let (programs, units) = (self.programs, units.to_string());
        let [answers, bare] = self.ports(contest);
        let lists = programs.lists.to_string_lossy();
        let rest = [entry.work, &units, &lists, &answers];
        Ok(match entry.by {
            By::Alula => (programs.bench.program().to_owned(), args(["time", entry.work, &units])),
            By::Rust => (programs.rust.clone(), args([entry.peer].iter().chain(&rest))),
            By::Go => (programs.go.clone(), args(rest)),
            By::Nghttp2 => (programs.nghttp2.clone(), args(rest)),
            By::Floor => {
                let (up, down) = floor::octets(contest.kind);
                let (up, down) = (up.to_string(), down.to_string());
                (programs.rust.clone(), args(["floor", entry.work, "client", &units, &up, &down, &bare]))
            }
            other => anyhow::bail!("{other:?} is a server only"),
        })
    }

    fn ports(&self, contest: &Contest) -> [String; 2] {
        let port = |at: usize| self.servers.get(contest.name).map_or(0, |servers| servers[at].port);
        [port(0).to_string(), port(1).to_string()]
    }
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
