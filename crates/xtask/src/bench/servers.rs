//! Servers under h2load, or under the driver of `crates/bench`, and the floor under its own driver.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{By, Contest, Entry, Kind, Load, Traffic, Version};
use super::floor;
use super::nginx::Configuration;
use super::options::Options;
use super::program::{Core, Server, Under, args, free_port, output, taken};
use super::results::Results;
use crate::command::{answer, needed_program};

/// All servers, each running and idle but when it is its turn.
pub(super) struct Servers<'a> {
    programs: &'a Programs,
    contests: &'a [Contest],
    running: Vec<(Load, Entry, Server)>,
}

impl<'a> Servers<'a> {
    pub(super) fn start(programs: &'a Programs, contests: &'a [Contest]) -> Result<Self> {
        let mut running = Vec::new();
        for (load, entries) in loads(contests) {
            for entry in entries {
                if find(&running, load, entry).is_none() {
                    let server = start(programs, entry, load, Under::OneCore, Core::last()?)?;
                    running.push((load, entry.clone(), server));
                }
            }
        }
        Ok(Self { programs, contests, running })
    }

    /// Loads everybody once in every way.
    pub(super) fn round(&mut self, options: &Options, results: &mut Results) -> Result<()> {
        for contest in self.contests {
            let Kind::Server(load) = contest.kind else { continue };
            for entry in &contest.entries {
                let server = find(&self.running, load, entry).context("every server runs")?;
                let requests = load.requests / options.divisor;
                drive(self.programs, entry, server, load, requests / 10)?;
                let before = server.cpu()?;
                let per_second = drive(self.programs, entry, server, load, requests)?;
                let cpu = taken(&before, &server.cpu()?).with_context(|| entry.label.to_owned())?;
                let figures = results.of(contest, entry);
                figures.cpu.push(cpu as f64 / requests as f64);
                figures.wall.push(1e9 / per_second);
            }
        }
        Ok(())
    }

    pub(super) fn stop(self) -> Result<()> {
        for (_, entry, server) in self.running {
            stop(&entry, server)?;
        }
        Ok(())
    }
}

fn loads(contests: &[Contest]) -> impl Iterator<Item = (Load, &[Entry])> {
    contests.iter().filter_map(|contest| match contest.kind {
        Kind::Server(load) => Some((load, &*contest.entries)),
        _ => None,
    })
}

/// The one of that version, label and work. The floor moves other octets under another load.
fn find<'s>(running: &'s [(Load, Entry, Server)], load: Load, entry: &Entry) -> Option<&'s Server> {
    let is_own = |(spoken, other, _): &&(Load, Entry, Server)| {
        spoken.version == load.version
            && (other.label, other.work) == (entry.label, entry.work)
            && (!entry.is_floor() || spoken.traffic == load.traffic)
    };
    running.iter().find(is_own).map(|(_, _, server)| server)
}

/// Starts a server under something.
pub(super) fn start(
    programs: &Programs,
    entry: &Entry,
    load: Load,
    under: Under<'_>,
    core: Core,
) -> Result<Server> {
    let (program, args, port) = command(programs, entry, load)?;
    let log = format!("{}-{:?}-{core:?}.log", entry.label.replace(' ', "-"), load.version);
    let (log, command) = (programs.folder.join(log), under.command(&program, &args, core)?);
    Server::start(command, port, log, core).with_context(|| entry.label.to_owned())
}

/// Ends it; says what callgrind has said.
pub(super) fn stop(entry: &Entry, server: Server) -> Result<String> {
    server.stop(matches!(entry.by, By::Nghttpd | By::Nginx | By::H2o))
}

/// The program, its arguments, and the port unless it tells that itself.
fn command(programs: &Programs, entry: &Entry, load: Load) -> Result<(PathBuf, Vec<OsString>, Option<u16>)> {
    let port = free_port()?;
    Ok(match entry.by {
        By::Alula => {
            let words: &[&str] = if entry.work == "serve-split" { &["serve", "split"] } else { &["serve"] };
            (programs.bench.program().to_owned(), args(words), None)
        }
        By::Rust => (programs.rust.clone(), args([entry.peer, entry.work]), None),
        By::Go => (programs.go.clone(), args([entry.work]), None),
        By::Floor => {
            let floor::Octets { up, down } = floor::of_server(load);
            let (up, down) = (up.to_string(), down.to_string());
            (programs.rust.clone(), args(["floor", entry.work, "serve", &up, &down]), None)
        }
        By::Nghttpd => {
            let site = site(programs)?;
            let mut all = args(["--no-tls", "--address", "127.0.0.1", "--htdocs"]);
            all.extend([site.into_os_string(), port.to_string().into()]);
            (needed_program("nghttpd")?, all, Some(port))
        }
        By::Nginx => {
            let (program, all) = nginx(load.version).command(&programs.folder, port)?;
            (program, all, Some(port))
        }
        By::H2o => {
            let configuration = programs.folder.join(format!("h2o-{port}.conf"));
            fs::write(&configuration, h2o(port, &site(programs)?)?)?;
            (needed_program("h2o")?, args([OsString::from("-c"), configuration.into()]), Some(port))
        }
        By::Nghttp2 => anyhow::bail!("nghttp2's library is no server"),
    })
}

/// A folder with the file `hello`, for servers that have nothing else to answer with.
fn site(programs: &Programs) -> Result<PathBuf> {
    let site = programs.folder.join("site");
    fs::create_dir_all(&site)?;
    fs::write(site.join("hello"), "Hello, World!")?;
    Ok(site)
}

/// Answers from memory.
fn nginx(version: Version) -> Configuration {
    Configuration {
        connections: 256,
        is_http2: version == Version::Http2,
        tls: None,
        directives: String::new(),
        locations: "location /hello { default_type text/plain; return 200 \"Hello, World!\"; }".to_owned(),
    }
}

/// One thread; a file, which it keeps open.
fn h2o(port: u16, site: &std::path::Path) -> Result<String> {
    let user = answer(Command::new("id").arg("-un")).context("`id` says who we are")?;
    let (user, site) = (user.trim(), site.display());
    Ok(format!(
        "user: {user}
num-threads: 1
listen:
  host: 127.0.0.1
  port: {port}
hosts:
  default:
    paths:
      /:
        file.dir: {site}
"
    ))
}

/// Requests per second under so many requests: of h2load, where they repeat.
pub(super) fn drive(
    programs: &Programs,
    entry: &Entry,
    server: &Server,
    load: Load,
    requests: u64,
) -> Result<f64> {
    let port = server.port;
    let Load { connections, in_flight, .. } = load;
    let batch = connections * in_flight;
    // Whole batches only.
    let requests = requests.div_ceil(batch) * batch;
    let [requests_text, c, m] = [requests, connections, in_flight].map(|number| number.to_string());
    let (program, all) = if entry.is_floor() {
        let floor::Octets { up, down } = floor::of_server(load);
        let [up, down, port] = [up, down, port.into()].map(|number: u64| number.to_string());
        (programs.rust.clone(), args(["floor", "drive", &requests_text, &c, &m, &up, &down, &port]))
    } else if load.traffic != Traffic::Repeated {
        return drive_counted(programs, entry, server, load, requests);
    } else {
        let url = format!("http://127.0.0.1:{port}/hello");
        let program = needed_program("h2load")?;
        let h1 = (load.version == Version::Http1).then_some("--h1");
        let all = ["-n", &requests_text, "-c", &c, "-m", &m].into_iter().chain(h1).chain([&*url]);
        (program, args(all))
    };
    let command = Under::OneCore.command(&program, &all, server.core)?;
    let (printed, _) = output(command).with_context(|| entry.label.to_owned())?;
    let per_second = if entry.is_floor() { printed.trim().parse().ok() } else { h2load(&printed, requests) };
    per_second
        .with_context(|| format!("{} did not answer all of {requests} requests:\n{printed}", entry.label))
}

/// Has the driver of `crates/bench` make so many requests on one connection: for figures that must not depend on how h2load cuts
/// batches. The requests that repeat are octet for octet those of h2load.
pub(super) fn drive_counted(
    programs: &Programs,
    entry: &Entry,
    server: &Server,
    load: Load,
    requests: u64,
) -> Result<f64> {
    if entry.is_floor() {
        return drive(programs, entry, server, load, requests);
    }
    let version = if load.version == Version::Http1 { "h1" } else { "h2" };
    let numbers = [load.in_flight, server.port.into(), requests].map(|number: u64| number.to_string());
    let words = ["load", version, load.traffic.name()].map(str::to_owned);
    let all = args(words.into_iter().chain(numbers));
    let command = Under::OneCore.command(programs.bench.program(), &all, server.core)?;
    let (printed, _) = output(command).with_context(|| entry.label.to_owned())?;
    printed.trim().parse().with_context(|| format!("{} did not answer:\n{printed}", entry.label))
}

/// Requests per second, if so many were answered, and well.
pub(super) fn h2load(printed: &str, requests: u64) -> Option<f64> {
    let succeeded = printed.contains(&format!(" {requests} succeeded, 0 failed, 0 errored"));
    let line = printed.lines().find_map(|line| line.strip_prefix("finished in "))?;
    let (_, rest) = line.split_once(", ")?;
    rest.split_once(" req/s")?.0.parse().ok().filter(|_| succeeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_load_that_was_answered_counts() {
        let printed = "finished in 1.50s, 2000.50 req/s, 1.1MB/s\n\
            requests: 3000 total, 3000 started, 3000 done, 3000 succeeded, 0 failed, 0 errored, 0 timeout\n";
        assert_eq!(h2load(printed, 3000), Some(2000.5));
        assert_eq!(h2load(printed, 4000), None);
        assert_eq!(h2load(&printed.replace("0 failed", "1 failed"), 3000), None);
    }
}
