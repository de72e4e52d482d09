//! Recordings of processes that write: on a new folder, on one that a loss of power left, and with so many
//! bytes that journals become full.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use alula_power::{Disk, Flushes, Loss, Recorded, Recording, variables};
use alula_testkit::Rng;
use tempfile::TempDir;

use super::history::History;
use super::{cuts::Cuts, image, writer};

/// Recordings, one after another.
pub(crate) struct Recordings {
    folder: TempDir,
    count: u64,
    last: Option<Taken>,
}

/// A recording, with what was there before it and what is there after it.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) recording: std::rc::Rc<Recording>,
    pub(crate) seed: u64,
    /// The folder before.
    before: PathBuf,
    /// The folder after.
    pub(crate) folder: PathBuf,
    /// The content of the folder before.
    pub(crate) history: History,
}

impl Taken {
    /// The folder before.
    pub(crate) fn disk(&self, flushes: Flushes) -> Disk {
        Disk::of(&self.before, flushes, self.seed).expect("the folder before")
    }
}

impl Recordings {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), count: 0, last: None }
    }

    /// Takes the next recording. Every second one begins where a loss of power ended the one before it.
    pub(crate) async fn next(&mut self) -> Taken {
        let seed = self.count;
        self.count += 1;
        let folder = |name: &str| self.folder.path().join(format!("{name}-{seed}"));
        let (before, after) = (folder("before"), folder("after"));
        let history = match self.last.take() {
            Some(last) if seed % 2 == 1 => {
                let history = leave_one(&last, seed, &[&before, &after, &folder("looked-at")]).await;
                remove(&folder("looked-at"));
                history
            }
            _ => {
                for folder in [&before, &after] {
                    std::fs::create_dir(folder).expect("a folder");
                }
                History::default()
            }
        };
        if let Some(old) = seed.checked_sub(1) {
            ["before", "after"]
                .iter()
                .for_each(|name| remove(&self.folder.path().join(format!("{name}-{old}"))));
        }
        let recording = std::rc::Rc::new(record(&after, seed));
        let taken = Taken { recording, seed, before, folder: after, history };
        self.last = Some(taken.clone());
        taken
    }
}

/// Leaves some image of a recording in folders, the last of which is opened. Returns what was found there.
async fn leave_one(last: &Taken, seed: u64, folders: &[&Path]) -> History {
    let mut rng = Rng::new(seed);
    let cut = Cuts::of(&last.recording).choose(1, &mut rng)[0];
    let mut disk = last.disk(Flushes::Kept);
    disk.follow(&last.recording, cut);
    let loss = Loss::new(rng.next_u64());
    for folder in folders {
        disk.leave(&loss, folder).expect("an image");
    }
    let mut history = last.history.clone();
    history.follow(&last.recording, cut);
    image::look_at(folders[folders.len() - 1], &history).await
}

/// Starts this test as a writer and records it to its end.
fn record(folder: &Path, seed: u64) -> Recording {
    let mut command = alula_testkit::again("fjall::power::writes_and_is_recorded");
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    let (writes, large) = if writer::is_large(seed) { (900, 130_000) } else { (120, 0) };
    command.env(writer::FOLDER, folder).env(writer::SEED, seed.to_string());
    command.env(writer::WRITES, writes.to_string()).env(writer::LARGE, large.to_string());
    // A disk takes some time for a flush, in which much is written.
    let flush_micros = if seed % 4 < 2 { 0 } else { 1_500 };
    command.env(variables::FLUSH_MICROS, flush_micros.to_string());
    let recorded = Recorded::new(&mut command, folder, &format!("recording-{seed}")).expect("a recorder");
    let status = command.status().expect("this test again");
    assert!(status.success(), "the writer ended with {status}");
    recorded.recording().expect("a recording")
}

fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}
