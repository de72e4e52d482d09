//! Whole programs from their start to their end: `alula get` and curl fetch a few bytes from the same server,
//! in turns.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::build::Programs;
use super::machine;
use super::program::{Core, Server, Under, args, free_port};
use super::report::measure::{Measure, fine, less};
use super::suite::{By, Contest, Entry, Suite};
use crate::command::needed_program;

/// Both programs fetch so often in each way; once more, before that, without being timed.
pub(super) const RUNS: usize = 30;

/// A request: its title, if it goes over TLS, and the flags of Alula and of curl.
type Way = (&'static str, bool, [&'static [&'static str]; 2]);

const WAYS: [Way; 5] = [
    ("HTTP/1.1", false, [&["--http1.1"]; 2]),
    ("HTTP/2, prior knowledge", false, [&["--http2-prior-knowledge"]; 2]),
    ("TLS, HTTP/1.1, any certificate", true, [&["-k", "--http1.1"]; 2]),
    ("TLS, HTTP/2, any certificate", true, [&["-k"]; 2]),
    ("TLS, HTTP/2, the system's roots", true, [&[]; 2]),
];

static MEASURES: [Measure; 2] = [less("CPU, ms", fine), less("wall, ms", fine)];

/// The programs, and the server that both ask.
pub(super) struct Start<'p> {
    programs: &'p Programs,
    server: Option<Server>,
    port: u16,
    core: Core,
}

impl<'p> Start<'p> {
    pub(super) fn new(programs: &'p Programs) -> Result<Self> {
        let (core, port) = (Core::last()?, free_port()?);
        let mut all = args(["serve".into(), programs.site().into_os_string()]);
        all.extend(args(["--listen", &format!("127.0.0.1:{port}")]));
        for (flag, file) in ["--cert", "--key"].into_iter().zip(programs.identity()) {
            all.extend([flag.into(), file.into_os_string()]);
        }
        let command = Under::OneCore.command(&programs.alula()?, &all, core)?;
        let log = programs.folder.join("start.log");
        let server = Some(Server::start(command, Some(port), log, core)?);
        Ok(Self { programs, server, port, core })
    }

    fn fetch(&self, (_, is_secure, flags): Way, entry: &Entry) -> Result<[f64; 2]> {
        let is_curl = entry.by == By::Curl;
        let scheme = if is_secure { "https" } else { "http" };
        let mut all: Vec<OsString> = args([if is_curl { "-s" } else { "get" }]);
        all.extend(args(flags[usize::from(is_curl)]));
        all.push(format!("{scheme}://127.0.0.1:{}/hello", self.port).into());
        let program = if is_curl { needed_program("curl")? } else { self.programs.alula()? };
        let mut command = Under::OneCore.command(&program, &all, self.core)?;
        command.env("SSL_CERT_FILE", self.programs.folder.join("roots.pem"));
        timed(command)
    }
}

/// Runs a program: the milliseconds that it has computed, and those until it had ended.
fn timed(mut command: Command) -> Result<[f64; 2]> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (before, start) = (children()?, Instant::now());
    let output = command.output()?;
    let (wall, cpu) = (start.elapsed(), children()? - before);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && output.stdout == b"Hello, World!", "{command:?}: {said}");
    Ok([cpu, wall].map(|time| time.as_secs_f64() * 1000.0))
}

/// The processor time of programs that have ended.
pub(super) fn children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

impl Suite for Start<'_> {
    type Work = Way;

    fn name(&self) -> &'static str {
        "start"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Way>> {
        let both =
            vec![Entry::new("Alula", "alula", By::Alula, ""), Entry::new("curl", "curl", By::Curl, "")];
        WAYS.map(|way| Contest::new(way.0, way, both.clone())).into()
    }

    fn measure(&mut self, contest: &Contest<Way>, entry: &Entry, round: usize) -> Result<Vec<f64>> {
        if round == 0 {
            self.fetch(contest.work, entry)?;
        }
        self.fetch(contest.work, entry).map(Vec::from)
    }

    fn heading(&self) -> Result<String> {
        machine::sentence("Cargo.lock", &["rustls", "tokio"], &["curl"])
    }

    fn end(&mut self) -> Result<()> {
        self.server.take().map_or(Ok(()), |server| server.stop(true).map(drop))
    }
}
