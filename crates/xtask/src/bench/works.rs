//! `cargo xtask bench --servers`: servers at three works, under h2load and wrk, in turns.
//!
//! Rules: every server has one worker thread and shares one core with the load, as in the other contests; in
//! a contest all are sent the same requests in the same way; CPU time is that of the server's process, less
//! what its connections took to be opened.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::build::{Programs, content};
use super::configuration::{Configuration, Started, h2o_files, nginx_memory};
use super::load::{self, h2load, wrk, wrk_args};
use super::machine;
use super::options::Options;
use super::program::{Core, Server, Under, args, free_port};
use super::report::measure::{Measure, fine, less, more};
use super::suite::{By, Contest, Entry, Gaps, Suite};
use crate::command::needed_program;
use crate::costs::table::thousands;

/// The work of a server for each request.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Work {
    Memory,
    Json,
    File,
}

/// The program that makes the requests, and its version of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Generator {
    H2loadHttp2,
    H2loadHttp1,
    Wrk,
}

/// One way of asking for one work: all servers that have the work are asked in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    work: Work,
    generator: Generator,
    is_secure: bool,
    /// Each request names another of a thousand things.
    varies: bool,
    connections: u64,
    /// On each connection; over HTTP/1.1 so many are sent at once.
    in_flight: u64,
}

/// A process: one for each server, work, version and kind of connection.
type Key = (&'static str, Work, bool, bool);

/// The servers, by label, the name that `--only` knows, and program.
const SERVERS: [(&str, &str, By); 6] = [
    ("Alula", "alula", By::Alula),
    ("`alula serve`", "alula", By::Alula),
    ("hyper", "hyper", By::Rust),
    ("axum", "axum", By::Rust),
    ("nginx", "nginx", By::Nginx),
    ("h2o", "h2o", By::H2o),
];

static MEASURES: [Measure; 2] = [less("CPU, µs", fine), more("per second", thousands)];

/// As many things are there to ask for.
const NAMES: u64 = 1000;

impl Work {
    const ALL: [Self; 3] = [Self::Memory, Self::Json, Self::File];

    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Json => "json",
            Self::File => "file",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Memory => "1 KiB from memory",
            Self::Json => "JSON by one of 40 routes",
            Self::File => "A file of 1 KiB",
        }
    }

    /// The path that is asked for, around the number of a thing.
    const fn path(self) -> [&'static str; 2] {
        match self {
            Self::Memory => ["/memory?id=", ""],
            Self::Json => ["/lists/hello-world/items/", ""],
            Self::File => ["/kib.txt?id=", ""],
        }
    }

    /// nginx and h2o are asked for JSON in nobody's benchmark, and `alula serve` has files alone.
    fn is_of(self, label: &str) -> bool {
        match self {
            Self::Memory => label != "`alula serve`",
            Self::Json => ["Alula", "hyper", "axum"].contains(&label),
            Self::File => true,
        }
    }
}

impl Way {
    const fn is_http1(&self) -> bool {
        !matches!(self.generator, Generator::H2loadHttp2)
    }

    /// Returns true if a server can answer more requests than the load can count: more than a million in a
    /// second of wrk on one connection.
    fn can_outrun_its_load(&self) -> bool {
        self.generator == Generator::Wrk && self.connections == 1 && self.in_flight > 1
    }

    /// `A file of 1 KiB: HTTP/2, h2load, TLS, 10 × 32, varied`.
    fn title(&self) -> String {
        let Self { work, is_secure, varies, connections, in_flight, .. } = *self;
        let generator = match self.generator {
            Generator::H2loadHttp2 => "HTTP/2, h2load",
            Generator::H2loadHttp1 => "HTTP/1.1, h2load",
            Generator::Wrk => "HTTP/1.1, wrk",
        };
        let security = if is_secure { "TLS" } else { "clear text" };
        let varied = if varies { ", varied" } else { "" };
        format!("{}: {generator}, {security}, {connections} × {in_flight}{varied}", work.title())
    }

    /// The number of requests, in whole batches; slow servers need a second for them.
    fn requests(&self) -> u64 {
        let requests: u64 = match (self.connections, self.in_flight) {
            (1, 1) => 6_000,
            (_, 1) => 12_000,
            _ => 32_000,
        };
        let batch = self.connections * self.in_flight;
        requests.div_ceil(batch) * batch
    }

    /// wrk ends by its clock, and forgets what is then in flight: too much of what slow servers have
    /// answered.
    fn is_measurable(&self) -> bool {
        self.generator != Generator::Wrk || self.connections * self.in_flight < 1000
    }

    /// All works in all ways on ten connections, what varies where it changes the work, and other numbers of
    /// connections for one work.
    fn is_quick(&self) -> bool {
        let is_middle = self.connections == 10 && (!self.varies || self.work == Work::Json);
        let is_beside =
            self.work == Work::Memory && self.generator != Generator::Wrk && !self.is_secure && !self.varies;
        is_middle || is_beside
    }

    fn url(&self, server: &Server, number: u64) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        let [before, after] = self.work.path();
        format!("{scheme}://127.0.0.1:{}{before}{number}{after}", server.port)
    }
}

/// Every way of a whole run, or those of a quick one.
fn ways(is_quick: bool) -> Vec<Way> {
    let mut ways = Vec::new();
    for work in Work::ALL {
        for generator in [Generator::H2loadHttp2, Generator::H2loadHttp1, Generator::Wrk] {
            for (is_secure, connections) in
                [(false, 1), (false, 10), (false, 100), (true, 1), (true, 10), (true, 100)]
            {
                for (in_flight, varies) in [(1, false), (1, true), (32, false), (32, true)] {
                    ways.push(Way { work, generator, is_secure, varies, connections, in_flight });
                }
            }
        }
    }
    ways.retain(|way| way.is_measurable() && (!is_quick || way.is_quick()));
    ways
}

/// The servers at their works.
pub(super) struct Works<'p> {
    programs: &'p Programs,
    core: Core,
    is_quick: bool,
    /// Each idle but when it is its turn.
    running: BTreeMap<Key, (By, Server)>,
}

impl<'p> Works<'p> {
    pub(super) fn new(programs: &'p Programs, options: &Options) -> Result<Self> {
        Ok(Self { programs, core: Core::last()?, is_quick: options.is_quick(), running: BTreeMap::new() })
    }

    /// Starts a server, and warms it up.
    fn start(&self, way: &Way, entry: &Entry) -> Result<Server> {
        let (program, all, port) = self.command(way, entry)?;
        let log =
            self.programs.folder.join(format!("{}-{}.log", entry.label.trim_matches('`'), way.work.name()));
        let command = Under::OneCore.command(&program, &all, self.core)?;
        let server = Server::start(command, port, log, self.core)?;
        self.drive(way, &server)?;
        Ok(server)
    }

    fn command(&self, way: &Way, entry: &Entry) -> Result<Started> {
        let version = if way.is_http1() { "h1" } else { "h2" };
        let (site, port) = (self.programs.site().into_os_string(), free_port()?);
        let identity = way.is_secure.then(|| self.programs.identity());
        let tls: Vec<OsString> =
            identity.clone().into_iter().flatten().map(PathBuf::into_os_string).collect();
        let words = |words: &[&str], rest: &[OsString]| [args(words), rest.to_vec(), tls.clone()].concat();
        let work = way.work.name();
        Ok(match entry.by {
            By::Alula if entry.label == "Alula" => {
                (self.programs.example("works")?, words(&[work], &[site]), None)
            }
            By::Alula => {
                let mut all =
                    args(["serve".into(), site, "--listen".into(), format!("127.0.0.1:{port}").into()]);
                for (flag, file) in ["--cert", "--key"].into_iter().zip(tls) {
                    all.extend([flag.into(), file]);
                }
                (self.programs.alula()?, all, Some(port))
            }
            By::Rust => (self.programs.rust()?, words(&[entry.peer, "works", work, version], &[site]), None),
            By::Nginx => nginx(way, &self.programs.site(), identity).nginx(&self.programs.folder, port)?,
            By::H2o => h2o(way, &self.programs.site(), identity).h2o(&self.programs.folder, port)?,
            other => bail!("{other:?} has none of these works"),
        })
    }

    /// Asks as the contest says: requests, and requests per second.
    fn drive(&self, way: &Way, server: &Server) -> Result<(u64, f64)> {
        let folder = &self.programs.folder;
        if way.generator == Generator::Wrk {
            let script = folder.join("load.lua");
            fs::write(&script, lua(way))?;
            let script = (way.varies || way.in_flight > 1).then_some(&*script);
            let all = wrk_args(way.connections, 1, script, &way.url(server, 0));
            let load::Run { requests, per_second, .. } =
                wrk(Under::OneCore.command(&needed_program("wrk")?, &all, server.core)?)?;
            return Ok((requests, per_second));
        }
        let numbers = [way.requests(), way.connections, way.in_flight];
        let per_second = if way.varies {
            let file = folder.join(format!("urls-{}", server.port));
            let urls: Vec<String> = (0..NAMES).map(|number| way.url(server, number)).collect();
            fs::write(&file, urls.join("\n"))?;
            h2load(server, way.is_http1(), numbers, &["-i", &file.to_string_lossy()])?
        } else {
            h2load(server, way.is_http1(), numbers, &[&way.url(server, 0)])?
        };
        Ok((way.requests(), per_second))
    }
}

/// Answers from memory, and files that stay open.
fn nginx(way: &Way, site: &std::path::Path, tls: Option<[PathBuf; 2]>) -> Configuration {
    // By sendfile over HTTP/2 a head and its content wait 40 ms for an acknowledgement of each other.
    let sendfile = if way.is_http1() { "on" } else { "off" };
    let memory = nginx_memory("= /memory", &content());
    Configuration {
        connections: 1024,
        is_http2: !way.is_http1(),
        tls,
        directives: format!(
            "sendfile {sendfile}; tcp_nopush {sendfile}; open_file_cache max=100; types {{ text/plain txt; }}"
        ),
        locations: format!("{memory} location / {{ root {}; }}", site.display()),
        workers: None,
    }
}

/// Content from memory is a script's.
fn h2o(way: &Way, site: &std::path::Path, tls: Option<[PathBuf; 2]>) -> Configuration {
    let locations = match way.work {
        Work::Memory => format!(
            "        mruby.handler: |\n          content = \"{}\"\n          Proc.new do |env|\n            \
             [200, {{\"content-type\" => \"text/plain\"}}, [content]]\n          end\n",
            content()
        ),
        _ => h2o_files(site),
    };
    Configuration { tls, locations, ..Configuration::default() }
}

/// Requests that are written before the run, so many at once.
fn lua(way: &Way) -> String {
    let Way { in_flight, .. } = way;
    let names = if way.varies { NAMES } else { 1 };
    let [before, after] = way.work.path();
    format!(
        "local batches, turn = {{}}, 0
init = function(args)
  local requests = {{}}
  for name = 0, {names} - 1 do
    requests[name + 1] = wrk.format(nil, \"{before}\" .. name .. \"{after}\")
  end
  for first = 0, {names} - 1 do
    local batch = {{}}
    for place = 0, {in_flight} - 1 do
      batch[place + 1] = requests[(first * {in_flight} + place) % {names} + 1]
    end
    batches[first + 1] = table.concat(batch)
  end
end
request = function()
  turn = turn % {names} + 1
  return batches[turn]
end
"
    )
}

impl Suite for Works<'_> {
    type Work = Way;

    fn name(&self) -> &'static str {
        "works"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Way>> {
        let contest = |way: Way| {
            let servers = SERVERS.iter().filter(|(label, ..)| way.work.is_of(label));
            let entries = servers.map(|&(label, peer, by)| Entry::new(label, peer, by, "")).collect();
            Contest::new(way.title(), way, entries)
        };
        ways(self.is_quick).into_iter().map(contest).collect()
    }

    fn measure(&mut self, contest: &Contest<Way>, entry: &Entry, _: usize) -> Result<Vec<f64>> {
        let way = &contest.work;
        let key = (entry.label, way.work, way.is_http1(), way.is_secure);
        if !self.running.contains_key(&key) {
            let server = self.start(way, entry)?;
            self.running.insert(key, (entry.by, server));
        }
        let (_, server) = self.running.get(&key).context("it runs")?;
        let idle = server.cpu_time()?;
        // One request on each connection: the costs of connections by themselves.
        let numbers = [way.connections, way.connections, 1];
        h2load(server, way.is_http1(), numbers, &[&way.url(server, 0)])?;
        let before = server.cpu_time()?;
        let (requests, per_second) = self.drive(way, server)?;
        let cpu = (server.cpu_time()? - before).as_secs_f64() - (before - idle).as_secs_f64();
        Ok(vec![cpu * 1e6 / (requests - way.connections) as f64, per_second])
    }

    fn heading(&self) -> Result<String> {
        let crates = ["hyper", "axum", "tower-http", "rustls", "tokio"];
        machine::sentence("bench-peers/rust/Cargo.lock", &crates, &["nginx", "h2o", "h2load", "wrk"])
    }

    /// A peer that does not answer all has no figure, nor has one that is too fast for wrk; the others have.
    fn gaps(&self, contest: &Contest<Way>) -> Gaps {
        if contest.work.can_outrun_its_load() { Gaps::All } else { Gaps::Peers }
    }

    fn end(&mut self) -> Result<()> {
        for ((label, ..), (by, server)) in std::mem::take(&mut self.running) {
            server.stop(matches!(by, By::Nginx | By::H2o) || label == "`alula serve`")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_run_has_all_of_a_quick_one_and_each_way_once() {
        let (whole, quick) = (ways(false), ways(true));
        assert!(quick.iter().all(|way| whole.contains(way)) && whole.len() > 3 * quick.len());
        for way in &whole {
            assert_eq!(whole.iter().filter(|other| other.title() == way.title()).count(), 1);
            assert!(way.requests() >= way.connections * way.in_flight);
        }
    }

    #[test]
    fn a_quick_run_has_every_work_by_every_generator() {
        let quick = ways(true);
        for work in Work::ALL {
            for generator in [Generator::H2loadHttp2, Generator::H2loadHttp1, Generator::Wrk] {
                assert!(quick.iter().any(|way| (way.work, way.generator) == (work, generator)));
            }
        }
        assert!(lua(&quick[0]).contains("wrk.format(nil, \"/memory?id=\" .. name .. \"\")"));
    }
}
