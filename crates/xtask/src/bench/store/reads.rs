//! Reads of objects on the worker of their connection, and in a pool of threads: the costs of each, and the
//! time that others on the same worker wait while the disk is read.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::play::{Engine, Playing, flags};
use super::{Programs, heading};
use crate::bench::program::{Core, Server, Under, args};
use crate::bench::report::measure::{Measure, fine, told, whole};
use crate::bench::suite::{By, Contest, Entry, Suite};
use crate::costs::table::thousands;

/// Objects of 1 KiB: more than the cache of blocks takes.
const OBJECTS: u64 = 200_000;

/// Bytes of the cache of blocks: a 25th of the objects.
const CACHE: &str = "8388608";

/// The kernel forgets the content of files so often while reads are to come from the disk.
const DROP_EACH: Duration = Duration::from_millis(50);

static MEASURES: [Measure; 6] = [
    told("CPU, µs", fine),
    told("reads per second", thousands),
    told("read p50, µs", whole),
    told("read p99, µs", whole),
    told("ping p50, µs", whole),
    told("ping p99, µs", whole),
];

/// A store that was filled once.
pub(in crate::bench) struct Reads<'p> {
    playing: Playing<'p>,
    data: TempDir,
}

impl<'p> Reads<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs) -> Result<Self> {
        let playing = Playing::new(programs);
        let running = playing.start(Engine::Fjall)?;
        let objects = OBJECTS.to_string();
        let all = ["--clients", "256", "--per-connection", "64", "--http2", "--objects", &objects];
        playing.answers("fill", &running.server, &flags(&all))?;
        running.server.stop(true)?;
        Ok(Self { playing, data: running.data })
    }
}

impl Suite for Reads<'_> {
    /// True if files are read from the disk.
    type Work = bool;

    fn name(&self) -> &'static str {
        "store-reads"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<bool>> {
        let both = [("on the worker", "inline"), ("in the pool", "pooled")]
            .map(|(label, how)| Entry::new(label, "alula", By::Alula, how));
        [("from the kernel's memory", false), ("from the disk", true)]
            .map(|(title, is_cold)| Contest::new(title, is_cold, both.to_vec()))
            .into()
    }

    fn measure(&mut self, contest: &Contest<bool>, entry: &Entry, _: usize) -> Result<Vec<f64>> {
        let (is_cold, programs) = (contest.work, self.playing.programs);
        if !is_cold {
            read_files(self.data.path())?;
        }
        let core = Core::last()?;
        let mut all = args([&entry.work]);
        all.extend([self.data.path().into(), CACHE.into()]);
        let command = Under::OneCore.command(&programs.example("reads")?, &all, core)?;
        let server = Server::start(command, None, programs.folder.join("reads.log"), core)?;
        let steps = if is_cold { "1000" } else { "5000" };
        let all = flags(&["--clients", "4", "--steps", steps, "--pings", "--objects", &OBJECTS.to_string()]);
        let before = server.cpu_time()?;
        let read = || self.playing.answers("read", &server, &all);
        let answers = if is_cold { with_cold_files(read)? } else { read()? };
        let cpu = (server.cpu_time()? - before).as_secs_f64();
        server.stop(false)?;
        let (seconds, requests) = (answers.number("seconds")?, answers.number("requests")?);
        let ([get, get_most, _], [ping, ping_most, _]) = (answers.within("get"), answers.within("ping"));
        let per_second = answers.count("get")? / seconds;
        Ok(vec![cpu * 1e6 / requests, per_second, get, get_most, ping, ping_most])
    }

    fn heading(&self) -> Result<String> {
        heading()
    }
}

/// Has the kernel keep the files of a folder in memory: a way before this one may have had them forgotten.
fn read_files(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_files(&path)?;
        } else {
            io::copy(&mut File::open(&path)?, &mut io::sink())?;
        }
    }
    Ok(())
}

/// Does something while the kernel keeps nothing of files in memory.
#[expect(clippy::disallowed_methods, reason = "the kernel is told again and again")]
fn with_cold_files<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let dropping = scope.spawn(|| {
            while !is_done.load(Relaxed) {
                fs::write("/proc/sys/vm/drop_caches", "1").context("only root may have files forgotten")?;
                thread::sleep(DROP_EACH);
            }
            Ok(())
        });
        let result = work();
        is_done.store(true, Relaxed);
        dropping.join().expect("it does not panic").and(result)
    })
}
