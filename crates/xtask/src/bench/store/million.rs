//! A million objects of 1 KiB on disk: written in random order, read, listed, and there again after a restart.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::super::options::Options;
use super::super::program::{Server, output_within};
use super::super::table::whole;
use super::super::{versions, works};
use super::cells::Engine;
use super::process::resident;
use super::running::Programs;
use crate::costs::table::thousands;

const OBJECTS: u64 = 1_000_000;

/// The time that a listing may take.
const LIST_MAX: Duration = Duration::from_secs(120);

const MIB: f64 = 1024.0 * 1024.0;

/// The rows of the table: what was measured, and the figure.
type Rows = Vec<(&'static str, String)>;

/// Fills a new store, asks of it what there is to ask, and removes it.
pub(super) fn measure(programs: &Programs, options: &Options) -> Result<String> {
    let objects = (OBJECTS / options.divisor).to_string();
    let mut rows = Rows::new();
    let running = programs.start(Engine::Fjall)?;
    let id = running.server.id();
    // As many clients as keep a batch of writes in flight on each flush of the disk.
    let clients = ["--clients", "256", "--per-connection", "64", "--http2", "--objects", &objects];
    let filled = programs.answers("fill", &running.server, &clients)?;
    say(
        &mut rows,
        "objects written per second, each flushed before its answer",
        thousands(filled.number("per_second")?),
    );
    let put = filled.within().next().context("objects were written")?.1;
    say(
        &mut rows,
        "answers to PUT: p50, p99, p99.9, ms",
        put.map(|micros| format!("{:.1}", micros / 1000.0)).join(", "),
    );
    say(&mut rows, "resident memory at most while writing, MiB", mebibytes(resident(id)?[1]));
    say(&mut rows, "on disk, MiB", mebibytes(octets_in(running.data.path())?));
    let reads = ["--clients", "12", "--steps", "5000", "--objects", &objects];
    let read = programs.answers("read", &running.server, &reads)?;
    say(&mut rows, "random objects read per second", thousands(read.number("per_second")?));
    let get = read.within().next().context("objects were read")?.1;
    say(&mut rows, "answers to GET: p50, p99, p99.9, µs", get.map(whole).join(", "));
    list(programs, &running.server, &objects, &mut rows)?;
    let stop = Instant::now();
    running.server.stop(true)?;
    say(&mut rows, "stop, ms", milliseconds(stop.elapsed()));
    let start = Instant::now();
    let server = programs.start_on(Engine::Fjall, running.data.path())?;
    programs.answers("read", &server, &["--clients", "1", "--steps", "1", "--objects", &objects])?;
    say(&mut rows, "start, from the process to the first object, ms", milliseconds(start.elapsed()));
    say(&mut rows, "resident memory after the start, MiB", mebibytes(resident(server.id())?[0]));
    server.stop(true)?;
    markdown(&objects, &rows)
}

/// Lists all keys twice in a stream. Memory that the first listing adds may be blocks of files that are kept; the second adds none.
fn list(programs: &Programs, server: &Server, objects: &str, rows: &mut Rows) -> Result<()> {
    let mut memory = vec![resident(server.id())?[0]];
    for _ in 0..2 {
        fs::write(format!("/proc/{}/clear_refs", server.id()), "5")
            .context("the peak of memory is set back")?;
        let listing = programs.load("list", server, &["--objects", objects])?;
        let (printed, _) = output_within(listing, LIST_MAX)?;
        memory.push(resident(server.id())?[1]);
        say(rows, "all keys listed in a stream", printed.trim_end().to_owned());
    }
    let memory: Vec<String> = memory.into_iter().map(mebibytes).collect();
    say(rows, "resident memory before these listings, and at most during each, MiB", memory.join(", "));
    Ok(())
}

fn say(rows: &mut Rows, what: &'static str, figure: String) {
    println!("  {what}: {figure}");
    rows.push((what, figure));
}

fn markdown(objects: &str, rows: &Rows) -> Result<String> {
    let objects = thousands(objects.parse()?);
    let mut text = format!(
        "{objects} objects of 1 KiB, once. {}. {}\n\n| measured | |\n| --- | ---: |\n",
        works::machine()?,
        versions::of_the_store()?
    );
    rows.iter().for_each(|(what, figure)| text += &format!("| {what} | {figure} |\n"));
    Ok(text)
}

/// The blocks of all files below a folder.
fn octets_in(folder: &Path) -> Result<u64> {
    let mut octets = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        octets += if data.is_dir() { octets_in(&entry.path())? } else { data.blocks() * 512 };
    }
    Ok(octets)
}

fn mebibytes(octets: u64) -> String {
    thousands(octets as f64 / MIB)
}

fn milliseconds(time: Duration) -> String {
    thousands(time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_folders_are_added_up() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("a folder in it");
        fs::write(folder.path().join("inner/file"), vec![1; 100_000]).expect("a file");
        assert!(octets_in(folder.path()).expect("files") >= 100_000);
    }
}
