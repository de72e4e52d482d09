//! Reads of objects on the worker of their connection, and in a pool of threads: what each costs, and what others on the same worker wait
//! while the disk is read.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::super::options::Options;
use super::super::program::{Core, Server, Under, args};
use super::super::table::{fine, whole};
use super::super::{versions, works};
use super::answers::Answers;
use super::cells::Engine;
use super::markdown::of;
use super::running::Programs;
use crate::costs::table::thousands;

/// Objects of 1 KiB: more than the cache of blocks takes.
const OBJECTS: u64 = 200_000;

/// Octets of the cache of blocks: a 25th of the objects.
const CACHE: &str = "8388608";

/// The kernel forgets what files hold so often while reads are to come from the disk.
const DROP_EACH: Duration = Duration::from_millis(50);

const WAYS: [Way; 4] = [
    Way { how: "inline", is_cold: false },
    Way { how: "pooled", is_cold: false },
    Way { how: "inline", is_cold: true },
    Way { how: "pooled", is_cold: true },
];

/// The place where reads are made, and the one that they read.
#[derive(Clone, Copy)]
struct Way {
    how: &'static str,
    is_cold: bool,
}

/// The figures of a run: reads per second, CPU per request, half and 99 % of reads, and of pings.
type Figures = [f64; 6];

/// Fills a store once; then every way in every round.
pub(super) fn measure(programs: &Programs, options: &Options) -> Result<String> {
    let data = fill(programs)?;
    let mut rounds = WAYS.map(|way| (way, Vec::<Figures>::new()));
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        for (way, figures) in &mut rounds {
            let run = run(programs, &data, *way)?;
            println!("  {}: {run:.1?}", way.label());
            figures.push(run);
        }
    }
    markdown(&rounds, options)
}

fn fill(programs: &Programs) -> Result<TempDir> {
    let running = programs.start(Engine::Fjall)?;
    let objects = OBJECTS.to_string();
    let flags = ["--clients", "256", "--per-connection", "64", "--http2", "--objects", &objects];
    programs.answers("fill", &running.server, &flags)?;
    running.server.stop(true)?;
    Ok(running.data)
}

fn run(programs: &Programs, data: &TempDir, way: Way) -> Result<Figures> {
    if !way.is_cold {
        read_files(data.path())?;
    }
    let core = Core::last()?;
    let mut all = args([way.how]);
    all.extend([data.path().into(), CACHE.into()]);
    let command = Under::OneCore.command(&programs.reads, &all, core)?;
    let server = Server::start(command, None, programs.folder.join("reads.log"), core)?;
    let steps = if way.is_cold { "1000" } else { "5000" };
    let flags = ["--clients", "4", "--steps", steps, "--pings", "--objects", &OBJECTS.to_string()];
    let before = server.cpu_time()?;
    let answers = if way.is_cold {
        with_cold_files(|| programs.answers("read", &server, &flags))?
    } else {
        programs.answers("read", &server, &flags)?
    };
    let cpu = (server.cpu_time()? - before).as_secs_f64();
    server.stop(false)?;
    figures(&answers, cpu)
}

fn figures(answers: &Answers, cpu: f64) -> Result<Figures> {
    let seconds = answers.number("seconds")?;
    let (all, reads) = (answers.number("requests")?, answers.count("get")?);
    let of = |kind: &str| answers.within().find(|(name, _)| *name == kind).map(|(_, times)| times);
    let [get, ping] = ["get", "ping"].map(of);
    let (get, ping) = (get.context("reads")?, ping.context("pings")?);
    Ok([reads / seconds, cpu * 1e6 / all, get[0], get[1], ping[0], ping[1]])
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

impl Way {
    fn label(self) -> String {
        let place = if self.is_cold { "the disk" } else { "the kernel's memory" };
        let how = if self.how == "inline" { "on the worker" } else { "in the pool" };
        format!("from {place}, {how}")
    }
}

fn markdown(rounds: &[(Way, Vec<Figures>)], options: &Options) -> Result<String> {
    let mut text = format!(
        "n = {} rounds, all ways in turns in each; median (least–most). {}. {}\n\n\
         | reads | per second | CPU, µs per request | read p50, µs | read p99, µs | ping p50, µs | ping p99, µs |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        options.rounds,
        works::machine()?,
        versions::of_the_store()?
    );
    for (way, figures) in rounds {
        let column = |place: usize| figures.iter().map(move |figures| figures[place]);
        let times: Vec<String> = (2..6).map(|place| of(column(place), whole)).collect();
        text += &format!(
            "| {} | {} | {} | {} |\n",
            way.label(),
            of(column(0), thousands),
            of(column(1), fine),
            times.join(" | ")
        );
    }
    Ok(text)
}
