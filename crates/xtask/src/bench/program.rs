//! Starting programs: on one core, or under what counts; and ending them, by their ids.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::time::clock_getcpuclockid;
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::command::needed_program;

/// The core that a program and the other side of its connection share: all those that are timed the same one,
/// and with the other side there, a program that is counted waits for it in every run alike.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Core(usize);

impl Core {
    /// Where everything is timed.
    pub(super) fn last() -> Result<Self> {
        Ok(Self(thread::available_parallelism()?.get() - 1))
    }

    /// Where half of what is counted may run; the last one where there is no other.
    pub(super) const fn first() -> Self {
        Self(0)
    }
}

/// What a program is started under, always on one core.
#[derive(Clone, Copy, Debug)]
pub(super) enum Under<'a> {
    /// Nothing else.
    OneCore,
    /// callgrind.
    Callgrind,
    /// The malloc counter, which counts in the file of that path.
    Counter { library: &'a Path, file: &'a Path },
}

/// The time that a server may take to listen; callgrind needs some of it.
const READY_MAX: Duration = Duration::from_secs(60);

/// The time that a program may run that ends by itself; callgrind takes half a minute at most.
const RUN_MAX: Duration = Duration::from_secs(300);

/// The bytes of a page.
const PAGE: u64 = 4096;

/// The time that it may take to end.
const END_MAX: Duration = Duration::from_secs(20);

impl Under<'_> {
    /// The command, in an environment that is empty otherwise.
    pub(super) fn command(self, program: &Path, args: &[OsString], core: Core) -> Result<Command> {
        let mut command = Command::new("taskset");
        command.arg("--cpu-list").arg(core.0.to_string()).env_clear();
        match self {
            Self::OneCore => {}
            Self::Callgrind => {
                let valgrind = needed_program("valgrind")?;
                command.args(["setarch", "--addr-no-randomize"]).arg(valgrind);
                command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
            }
            Self::Counter { library, file } => {
                fs::write(file, [0; 8])?;
                command.args(["env", &assignment("LD_PRELOAD", library), &assignment("MALLOC_COUNT", file)]);
            }
        }
        command.arg(program);
        command.args(args);
        Ok(command)
    }
}

fn assignment(name: &str, value: &Path) -> String {
    format!("{name}={}", value.display())
}

/// Calls that the counter has counted so far.
pub(super) fn calls(file: &Path) -> Result<u64> {
    let bytes = fs::read(file)?.try_into().ok().context("the counter's file has eight bytes")?;
    Ok(u64::from_ne_bytes(bytes))
}

/// What callgrind says it has counted.
pub(super) fn collected(said: &str) -> Result<u64> {
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.with_context(|| format!("callgrind counted nothing:\n{said}"))?;
    Ok(count.trim().parse()?)
}

/// Runs a program to its end: what it prints to the standard output, and to the error output.
///
/// # Errors
/// When it fails, or has not ended after five minutes.
pub(super) fn output(command: Command) -> Result<(String, String)> {
    output_within(command, RUN_MAX)
}

/// As [`output`], with another time.
pub(super) fn output_within(mut command: Command, run_max: Duration) -> Result<(String, String)> {
    let described = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().with_context(|| described.clone())?;
    let (id, (ended, end)) = (child.id().to_string(), mpsc::channel::<()>());
    let watch = thread::spawn(move || match end.recv_timeout(run_max) {
        Err(RecvTimeoutError::Timeout) => Command::new("kill").arg(id).status().map(drop),
        _ => Ok(()),
    });
    let output = child.wait_with_output()?;
    drop(ended);
    watch.join().ok().context("nobody watched")??;
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    ensure!(output.status.success(), "{described} ended with {}:\n{printed}{said}", output.status);
    Ok((printed, said))
}

/// A server. It is killed when the value goes away without [`Server::stop`].
pub(super) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    described: String,
    log: PathBuf,
    /// Where it runs; so does who loads it.
    pub(super) core: Core,
    pub(super) port: u16,
}

impl Server {
    /// Starts it and waits until it listens: on the port it prints, unless it was told one. It says what else
    /// it says in the log.
    pub(super) fn start(mut command: Command, port: Option<u16>, log: PathBuf, core: Core) -> Result<Self> {
        let described = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut child = command.spawn().with_context(|| described.clone())?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("it is piped")?);
        let mut server = Self { child, input, output, described, log, core, port: port.unwrap_or_default() };
        match port {
            Some(port) => server.wait_for(port)?,
            None => server.port = server.line()?.parse().with_context(|| server.described.clone())?,
        }
        Ok(server)
    }

    /// The next line it prints.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(!line.is_empty(), "{} ended:\n{}", self.described, fs::read_to_string(&self.log)?);
        Ok(line.trim_end().to_owned())
    }

    #[expect(clippy::disallowed_methods, reason = "another program starts")]
    fn wait_for(&mut self, port: u16) -> Result<()> {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = self.child.try_wait()?.is_some();
            ensure!(
                !ended && start.elapsed() < READY_MAX,
                "{} does not listen on port {port}:\n{}",
                self.described,
                fs::read_to_string(&self.log)?
            );
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Asks it for a number by an empty line: the allocations of the server in Go.
    pub(super) fn ask(&mut self) -> Result<u64> {
        self.input.as_mut().context("its input is open")?.write_all(b"\n")?;
        Ok(self.line()?.parse()?)
    }

    /// The id of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its threads and the nanoseconds of user and system time that each took so far.
    pub(super) fn cpu(&self) -> Result<Threads> {
        let mut threads = Threads::new();
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?;
            let told = fs::read_to_string(task.path().join("schedstat"))?;
            let first = told.split(' ').next().context("schedstat has three figures")?;
            threads.insert(task.file_name(), first.parse()?);
        }
        Ok(threads)
    }

    /// User and system time that the process took so far, of threads that have ended as well.
    pub(super) fn cpu_time(&self) -> Result<Duration> {
        let id = Pid::from_raw(i32::try_from(self.child.id())?);
        Ok(clock_getcpuclockid(id)?.now()?.into())
    }

    /// Returns the bytes of its resident set.
    pub(super) fn resident(&self) -> Result<u64> {
        let told = fs::read_to_string(format!("/proc/{}/statm", self.child.id()))?;
        let pages: u64 = told.split(' ').nth(1).context("statm has seven figures")?.parse()?;
        Ok(pages * PAGE)
    }

    /// Returns the bytes of the largest resident set that it has had.
    pub(super) fn resident_most(&self) -> Result<u64> {
        let told = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let most = told.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix(" kB"));
        Ok(most.context("the kernel tells")?.trim().parse::<u64>()? * 1024)
    }

    /// Returns the seconds that the kernel worked for it.
    pub(super) fn kernel_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let ticks = kernel_ticks(&stat).with_context(|| stat.clone())?;
        let per_second = sysconf(SysconfVar::CLK_TCK)?.context("the kernel counts in ticks")?;
        Ok(ticks as f64 / per_second as f64)
    }

    /// Returns the number of its open descriptors.
    pub(super) fn descriptors(&self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// Ends it: by the end of its input, and by SIGTERM. Says what it had to say.
    #[expect(clippy::disallowed_methods, reason = "another program ends")]
    pub(super) fn stop(mut self, by_signal: bool) -> Result<String> {
        drop(self.input.take());
        if by_signal {
            let id = self.child.id().to_string();
            ensure!(Command::new("kill").arg(id).status()?.success(), "{} has ended", self.described);
        }
        let start = Instant::now();
        while self.child.try_wait()?.is_none() && start.elapsed() < END_MAX {
            thread::sleep(Duration::from_millis(10));
        }
        ensure!(self.child.try_wait()?.is_some(), "{} does not end", self.described);
        Ok(fs::read_to_string(&self.log)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The fifteenth field; the second has parentheses, and may have spaces in them.
fn kernel_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(12)?.parse().ok()
}

/// Nanoseconds by thread.
type Threads = BTreeMap<OsString, u64>;

/// What the threads took between two looks.
///
/// # Errors
/// When a thread ended meanwhile: it has taken the record of its time with it.
pub(super) fn taken(before: &Threads, after: &Threads) -> Result<u64> {
    let ended = before.keys().find(|thread| !after.contains_key(*thread));
    ensure!(ended.is_none(), "a thread of the server ended");
    Ok(after.values().sum::<u64>() - before.values().sum::<u64>())
}

/// A port that nobody listens on, below those that the system gives to outgoing connections, and none that
/// was given before.
pub(super) fn free_port() -> Result<u16> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id() % 20_000 + GIVEN.fetch_add(1, Ordering::Relaxed) * 7;
    let ports = (0..20_000).map(|offset| 10_000 + (start + offset) % 20_000);
    let mut ports = ports.filter_map(|port| u16::try_from(port).ok());
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).context("no port is free")
}

/// Arguments of one kind or another.
pub(super) fn args<T: AsRef<OsStr>>(args: impl IntoIterator<Item = T>) -> Vec<OsString> {
    args.into_iter().map(|arg| arg.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(nanos: &[(&str, u64)]) -> Threads {
        nanos.iter().map(|(thread, nanos)| ((*thread).into(), *nanos)).collect()
    }

    #[test]
    fn a_thread_may_begin_but_not_end() {
        let (one, two) = (threads(&[("7", 100)]), threads(&[("7", 150), ("8", 25)]));
        assert_eq!(taken(&one, &two).expect("one began"), 75);
        taken(&two, &one).unwrap_err();
    }

    #[test]
    fn the_time_of_the_kernel_is_the_fifteenth_field() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 40 25 0 0 20 0 3 0 99";
        assert_eq!(kernel_ticks(stat), Some(25));
    }

    #[test]
    fn what_callgrind_says_is_read() {
        assert_eq!(collected("==7== \n==7== Collected : 1234\n").expect("a count"), 1234);
        collected("==7== Process terminating").unwrap_err();
    }
}
