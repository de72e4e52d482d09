//! `cargo xtask bench --store-peers`: `alula store` beside other stores at the same work, in turns.
//!
//! Rules: a peer is measured only if it answers a sequence of reads and writes as `alula store` does; all
//! flush a write before they answer it, and how often they flush is counted; each server has a folder of its
//! own, which grows by the same objects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::play::Answers;
use super::{flushes, same, tree};
use crate::bench::build::Programs;
use crate::bench::configuration::{Configuration, Started};
use crate::bench::load::{wrk, wrk_args};
use crate::bench::machine;
use crate::bench::options::Options;
use crate::bench::program::{Core, Server, args, free_port, output};
use crate::bench::report::measure::{Measure, fine, less, told, whole};
use crate::bench::start::children;
use crate::bench::suite::{By, Contest, Entry, Suite};
use crate::command::needed_program;
use crate::costs::table::thousands;

/// The requests of a load.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Load {
    /// Objects that are there, in no order.
    Get,
    /// New objects.
    Put,
    /// The workload: of five requests two read, two write new objects, and one writes back an object that was
    /// read, with its context.
    All,
}

/// A load on so many connections.
#[derive(Clone, Copy, Debug)]
pub(in crate::bench) struct Cell {
    load: Load,
    connections: u64,
}

const STORES: [(&str, &str, By); 3] = [
    ("alula store", "alula", By::Alula),
    ("axum, fjall", "axum", By::Rust),
    ("nginx, files", "nginx", By::Nginx),
];

static MEASURES: [Measure; 7] = [
    less("CPU, µs", fine),
    told("per second", thousands),
    told("p50, µs", whole),
    less("p99, µs", whole),
    told("memory, MiB", whole),
    told("CPU of the load, µs", fine),
    told("flushes per 100 writes", fine),
];

/// The clients that write the objects to read, and the objects of each: 16 000 in all, which nginx can keep
/// open.
const FILLING: u64 = 8;
const KEYS: u64 = 2000;
const BUCKET: &str = "read";

/// Writes of a turn, and seconds of a turn of reads.
const WRITES: u64 = 8000;
const READ_SECONDS: u64 = 2;

/// All stores, each running and idle but when it is its turn.
pub(in crate::bench) struct StorePeers<'p> {
    driver: Driver<'p>,
    servers: BTreeMap<&'static str, Server>,
    /// The answers of `alula store`.
    wanted: Vec<String>,
}

/// The loads.
pub(super) struct Driver<'p> {
    programs: &'p Programs,
    /// Turns are shorter by this.
    divisor: u64,
}

impl<'p> StorePeers<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs, options: &Options) -> Result<Self> {
        let driver = Driver { programs, divisor: options.divisor };
        if driver.folder().exists() {
            fs::remove_dir_all(driver.folder())?;
        }
        fs::create_dir_all(driver.folder())?;
        driver.export()?;
        let mut all = Self { driver, servers: BTreeMap::new(), wanted: Vec::new() };
        let own = &entries()[0];
        all.start(own)?;
        all.wanted = same::transcript(all.server(own)?.port)?;
        Ok(all)
    }

    fn server(&self, entry: &Entry) -> Result<&Server> {
        self.servers.get(entry.label).context("it runs")
    }

    /// Starts a store, writes the objects to read, and compares its answers.
    fn start(&mut self, entry: &Entry) -> Result<()> {
        let data = self.driver.folder().join(entry.peer);
        fs::create_dir_all(&data)?;
        let (program, all, port) = self.driver.command(entry, &data)?;
        let mut command = Command::new(program);
        command.args(all).env_clear();
        let log = self.driver.folder().join(format!("{}.log", entry.peer));
        let server = Server::start(command, port, log, Core::last()?)?;
        if entry.by != By::Nginx {
            self.driver.fill(server.port)?;
        }
        if let Some(own) = self.servers.get(entries()[0].label) {
            same::check_bytes(entry.label, [own.port, server.port])?;
            if entry.by != By::Nginx {
                same::check(entry.label, server.port, &self.wanted)?;
            }
        }
        self.servers.insert(entry.label, server);
        Ok(())
    }
}

fn entries() -> Vec<Entry> {
    STORES.iter().map(|&(label, peer, by)| Entry::new(label, peer, by, "")).collect()
}

impl Suite for StorePeers<'_> {
    type Work = Cell;

    fn name(&self) -> &'static str {
        "store-peers"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Cell>> {
        let loads = [
            (Load::Get, "GET of objects in no order"),
            (Load::Put, "PUT of new objects"),
            (Load::All, "reads, new objects and updates with contexts"),
        ];
        let mut contests = Vec::new();
        for (load, title) in loads {
            for connections in [12, 64] {
                let mut entries = entries();
                entries.retain(|entry| load == Load::Get || entry.by != By::Nginx);
                let title = format!("{title}, {connections} connections");
                contests.push(Contest::new(title, Cell { load, connections }, entries));
            }
        }
        contests
    }

    fn measure(&mut self, contest: &Contest<Cell>, entry: &Entry, round: usize) -> Result<Vec<f64>> {
        if !self.servers.contains_key(entry.label) {
            self.start(entry)?;
        }
        let server = self.server(entry)?;
        let (before, load) = (tree::cpu(server.id())?, children()?);
        let [requests, per_second, p50, p99] = self.driver.drive(server.port, contest.work, round)?;
        let cpu = tree::cpu(server.id())? - before;
        let each = |time: Duration| time.as_secs_f64() * 1e6 / requests;
        let memory = tree::memory(server.id())? as f64 / 1024.0;
        Ok(vec![each(cpu), per_second, p50, p99, memory, each(children()? - load)])
    }

    fn count(&mut self, contest: &Contest<Cell>, entry: &Entry) -> Result<Vec<(&'static str, f64)>> {
        if contest.work.load != Load::Put {
            return Ok(Vec::new());
        }
        if !self.servers.contains_key(entry.label) {
            self.start(entry)?;
        }
        let flushes = flushes::count(&self.driver, self.server(entry)?, contest.work.connections)?;
        Ok(vec![("flushes per 100 writes", flushes)])
    }

    fn heading(&self) -> Result<String> {
        let crates = ["axum", "hyper", "tokio", "fjall"];
        machine::sentence("bench-peers/store-rust/Cargo.lock", &crates, &["nginx", "wrk"])
    }

    fn end(&mut self) -> Result<()> {
        for (label, server) in std::mem::take(&mut self.servers) {
            server.stop(["alula store", "nginx, files"].contains(&label))?;
        }
        Ok(())
    }
}

/// The path of an object that is read.
pub(super) fn path(number: u64) -> String {
    format!("/buckets/{BUCKET}-{}/keys/K{:08}", number % FILLING, number / FILLING)
}

impl Driver<'_> {
    pub(super) fn folder(&self) -> PathBuf {
        self.programs.folder.join("stores")
    }

    /// Objects as nginx has them.
    fn files(&self) -> PathBuf {
        self.folder().join("files")
    }

    /// The program of a store with a folder of its own, on all cores.
    fn command(&self, entry: &Entry, data: &Path) -> Result<Started> {
        let port = free_port()?;
        let data = data.as_os_str().to_owned();
        Ok(match entry.by {
            By::Alula => {
                let listen = format!("127.0.0.1:{port}");
                let all = args(["store".into(), "--listen".into(), listen.into(), "--data".into(), data]);
                (self.programs.alula()?, all, Some(port))
            }
            By::Rust => (self.programs.store_rust()?, vec![data], None),
            By::Nginx => self.nginx()?.nginx(Path::new(&data), port)?,
            other => bail!("{other:?} is no store"),
        })
    }

    /// As many workers as the others have, and files that stay open.
    fn nginx(&self) -> Result<Configuration> {
        Ok(Configuration {
            connections: 1024,
            directives: "sendfile on; tcp_nopush on; open_file_cache max=17000; open_file_cache_valid 1h; \
                default_type application/octet-stream;"
                .to_owned(),
            locations: format!("location / {{ root {}; }}", self.files().display()),
            workers: Some(std::thread::available_parallelism()?.get()),
            ..Configuration::default()
        })
    }

    /// Writes the objects to read as files.
    fn export(&self) -> Result<()> {
        let mut command = Command::new(self.programs.store_load()?);
        command.arg("export").arg(self.files()).args(keys());
        output(command).map(drop)
    }

    /// Writes them to a server.
    fn fill(&self, port: u16) -> Result<()> {
        let mut play = self.play(port)?;
        play.args(["--mix", "get", "--steps", "1"]).args(keys());
        output(play).map(drop)
    }

    /// Writes new objects of one connection each, for so many steps.
    pub(super) fn put(&self, port: u16, connections: u64, steps: u64, bucket: &str) -> Result<()> {
        self.written(port, "put", connections, steps, bucket).map(drop)
    }

    fn play(&self, port: u16) -> Result<Command> {
        let mut command = Command::new(self.programs.store_load()?);
        command.args(["play", &format!("127.0.0.1:{port}"), "--no-queries", "--json"]);
        Ok(command)
    }

    fn written(&self, port: u16, mix: &str, connections: u64, steps: u64, bucket: &str) -> Result<Answers> {
        let mut play = self.play(port)?;
        play.args(["--mix", mix, "--clients", &connections.to_string(), "--steps", &steps.to_string()]);
        play.args(["--bucket", bucket]);
        Answers::parse(&output(play)?.0)
    }

    /// Requests, requests per second, and the microseconds within which half and 99 % of the answers came, of
    /// the slowest kind.
    fn drive(&self, port: u16, Cell { load, connections }: Cell, round: usize) -> Result<[f64; 4]> {
        let (mix, shorter) = match load {
            Load::Get => return self.read(port, connections),
            Load::Put => ("put", 1),
            // A step writes three times in two.
            Load::All => ("all", 2),
        };
        let steps = (WRITES / shorter / self.divisor / connections).max(1);
        let bucket = format!("{mix}-{connections}-{round}");
        let told = self.written(port, mix, connections, steps, &bucket)?;
        let [p50, p99] = ["p50", "p99"].map(|name| told.slowest(name));
        Ok([told.number("requests")?, told.number("per_second")?, p50, p99])
    }

    fn read(&self, port: u16, connections: u64) -> Result<[f64; 4]> {
        let script = self.folder().join("read.lua");
        fs::write(&script, lua())?;
        let seconds = (READ_SECONDS / self.divisor).max(1);
        let mut command = Command::new(needed_program("wrk")?);
        command.args(wrk_args(connections, seconds, Some(&script), &format!("http://127.0.0.1:{port}/")));
        let run = wrk(command)?;
        Ok([run.requests as f64, run.per_second, run.p50, run.p99])
    }
}

fn keys() -> Vec<String> {
    let flags = ["--clients", &FILLING.to_string(), "--keys", &KEYS.to_string(), "--bucket", BUCKET];
    flags.map(str::to_owned).to_vec()
}

/// Requests for all objects, written before the run, in an order that jumps through them.
fn lua() -> String {
    let all = FILLING * KEYS;
    format!(
        "local requests, place = {{}}, 0
init = function(args)
  for number = 0, {all} - 1 do
    requests[number + 1] = wrk.format(nil, string.format(\"/buckets/{BUCKET}-%d/keys/K%08d\", number % {FILLING}, \
         math.floor(number / {FILLING})))
  end
end
request = function()
  place = (place + 7919) % {all}
  return requests[place + 1]
end
"
    )
}
