//! A million objects of 1 KiB on disk: written in random order, read, listed, and there again after a
//! restart.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::play::{Engine, Playing, flags};
use super::{Programs, alone, heading};
use crate::bench::options::Options;
use crate::bench::program::{Server, output_within};
use crate::bench::report::measure::{Measure, fine, told, whole};
use crate::bench::suite::{Contest, Entry, Suite};
use crate::costs::table::thousands;

const OBJECTS: u64 = 1_000_000;

/// The time that a listing may take.
const LIST_MAX: Duration = Duration::from_secs(120);

const MIB: f64 = 1024.0 * 1024.0;

static MEASURES: [Measure; 18] = [
    told("written per second, each flushed before its answer", thousands),
    told("PUT p50, µs", whole),
    told("PUT p99, µs", whole),
    told("PUT p99.9, µs", whole),
    told("resident at most while writing, MiB", whole),
    told("on disk, MiB", whole),
    told("read per second", thousands),
    told("GET p50, µs", whole),
    told("GET p99, µs", whole),
    told("GET p99.9, µs", whole),
    told("resident before listings, MiB", whole),
    told("first listing of all keys, s", fine),
    told("resident at most then, MiB", whole),
    told("second listing, s", fine),
    told("resident at most then as well, MiB", whole),
    told("stop, ms", whole),
    told("start, from the process to the first object, ms", whole),
    told("resident after the start, MiB", whole),
];

/// Many objects on disk.
pub(in crate::bench) struct Million<'p> {
    playing: Playing<'p>,
    objects: u64,
}

impl<'p> Million<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs, options: &Options) -> Self {
        Self { playing: Playing::new(programs), objects: OBJECTS / options.divisor }
    }

    /// Lists all keys in a stream: the seconds, and the most memory meanwhile.
    fn list(&self, server: &Server, objects: &str) -> Result<[f64; 2]> {
        fs::write(format!("/proc/{}/clear_refs", server.id()), "5")
            .context("the peak of memory is set back")?;
        let listing = self.playing.load("list", server, &flags(&["--objects", objects]))?;
        let (printed, _) = output_within(listing, LIST_MAX)?;
        let seconds = printed.split(" keys in ").nth(1).and_then(|rest| rest.trim().strip_suffix(" s"));
        let seconds = seconds.with_context(|| format!("the load told {printed}"))?.parse()?;
        Ok([seconds, server.resident_most()? as f64 / MIB])
    }
}

impl Suite for Million<'_> {
    type Work = ();

    fn name(&self) -> &'static str {
        "store-million"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<()>> {
        vec![Contest::new(format!("{} objects of 1 KiB", thousands(self.objects as f64)), (), alone())]
    }

    /// Fills a new store, asks of it all there is to ask, and removes it.
    fn measure(&mut self, _: &Contest<()>, _: &Entry, _: usize) -> Result<Vec<f64>> {
        let objects = &*self.objects.to_string();
        let running = self.playing.start(Engine::Fjall)?;
        let server = &running.server;
        let mut figures = Vec::new();
        // As many clients as keep a batch of writes in flight on each flush of the disk.
        let clients = ["--clients", "256", "--per-connection", "64", "--http2", "--objects", objects];
        let filled = self.playing.answers("fill", server, &flags(&clients))?;
        figures.push(filled.number("per_second")?);
        figures.extend(filled.within("put"));
        figures.push(server.resident_most()? as f64 / MIB);
        figures.push(bytes_in(running.data.path())? as f64 / MIB);
        let reads = ["--clients", "12", "--steps", "5000", "--objects", objects];
        let read = self.playing.answers("read", server, &flags(&reads))?;
        figures.push(read.number("per_second")?);
        figures.extend(read.within("get"));
        // Memory that the first listing adds may be blocks of files that are kept; the second adds none.
        figures.push(server.resident()? as f64 / MIB);
        figures.extend(self.list(server, objects)?);
        figures.extend(self.list(server, objects)?);
        let stop = Instant::now();
        running.server.stop(true)?;
        figures.push(stop.elapsed().as_secs_f64() * 1000.0);
        let start = Instant::now();
        let server = self.playing.start_on(Engine::Fjall, running.data.path())?;
        let one = ["--clients", "1", "--steps", "1", "--objects", objects];
        self.playing.answers("read", &server, &flags(&one))?;
        figures.push(start.elapsed().as_secs_f64() * 1000.0);
        figures.push(server.resident()? as f64 / MIB);
        server.stop(true)?;
        Ok(figures)
    }

    fn heading(&self) -> Result<String> {
        heading()
    }
}

/// The blocks of all files below a folder.
fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        bytes += if data.is_dir() { bytes_in(&entry.path())? } else { data.blocks() * 512 };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_folders_are_added_up() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("a folder in it");
        fs::write(folder.path().join("inner/file"), vec![1; 100_000]).expect("a file");
        assert!(bytes_in(folder.path()).expect("files") >= 100_000);
    }
}
