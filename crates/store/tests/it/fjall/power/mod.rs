//! A process that writes is recorded, and every folder that a loss of power may leave of it opens, with all
//! that was answered as flushed.
//!
//! The recording is of what the process asked of the system (`crates/disk-recorder`), and the folders are
//! made from it (`crates/power`, which says what is taken for possible). `ALULA_STORE_IMAGES` is the number
//! of folders, for more than CI has time for.
#![cfg(target_os = "linux")]

mod cuts;
mod history;
mod image;
mod recordings;
mod writer;

use std::path::Path;

use alula_power::{Disk, Flushes, Loss};
use alula_testkit::Rng;
use cuts::Cuts;
use image::Checked;
use recordings::{Recordings, Taken};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// The folders that are made, and those that are made of one recording.
const IMAGES: u64 = 50;
const IMAGES_OF_ONE: u64 = 10;
const IMAGES_OF_A_LARGE_ONE: u64 = 3;

fn images() -> u64 {
    let images = std::env::var("ALULA_STORE_IMAGES").ok();
    images.map_or(IMAGES, |images| images.parse().expect("ALULA_STORE_IMAGES is a number"))
}

/// Writes and is recorded. Does nothing in an ordinary run of the tests.
#[tokio::test(flavor = "multi_thread")]
async fn writes_and_is_recorded() {
    writer::run().await;
}

#[derive(Debug, Default)]
struct Counts {
    recordings: u64,
    images: u64,
    /// The keys whose last flushed write was looked for.
    checked: usize,
    during_opening: u64,
    during_tables: u64,
    further_journals: usize,
    cut_tails: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_flushed_is_there_after_each_loss_of_power() {
    if writer::is_writer() {
        return;
    }
    let mut recordings = Recordings::new();
    let mut counts = Counts::default();
    while counts.images < images() {
        let taken = recordings.next().await;
        counts.further_journals += cuts::further_journals(&taken.recording);
        let count = if writer::is_large(taken.seed) { IMAGES_OF_A_LARGE_ONE } else { IMAGES_OF_ONE };
        try_images(&taken, count.min(images() - counts.images), &mut counts).await;
        counts.recordings += 1;
    }
    let Counts { recordings, images, checked, during_opening, during_tables, further_journals, cut_tails } =
        counts;
    println!(
        "power loss: {images} images of {recordings} recordings, {checked} flushed writes checked, {during_opening} cut while the folder was \
         opened, {during_tables} while files of tables were written; {further_journals} journals were full, {cut_tails} tails cut off"
    );
}

/// A folder that is checked while further ones are made.
struct Checking {
    cut: usize,
    loss: Loss,
    folder: TempDir,
    checked: JoinHandle<Result<Checked, String>>,
}

/// Makes so many folders of a recording at random points, and checks each.
async fn try_images(taken: &Taken, count: u64, counts: &mut Counts) {
    let mut disk = taken.disk(Flushes::Kept);
    let cuts = Cuts::of(&taken.recording);
    let images = make_images(taken, &mut disk, &cuts, count, taken.seed);
    for Checking { cut, loss, folder, checked } in images {
        let checked = checked.await.unwrap_or_else(|panic| Err(panic.to_string()));
        let image = checked.unwrap_or_else(|wrong| {
            panic!("recording {} cut at {cut}, {loss:?}: {wrong} ({})", taken.seed, folder.keep().display())
        });
        counts.images += 1;
        counts.checked += image.checked;
        counts.cut_tails += image.cut_tails;
        counts.during_opening += u64::from(cuts.is_opening(cut));
        counts.during_tables += u64::from(cuts.is_in_tables(cut));
    }
    // The recording leads to the folder that is there.
    disk.follow(&taken.recording, taken.recording.entries().len());
    assert_eq!(difference(&disk, &taken.folder), None, "recording {}", taken.seed);
}

fn make_images(taken: &Taken, disk: &mut Disk, cuts: &Cuts, count: u64, seed: u64) -> Vec<Checking> {
    let mut rng = Rng::new(seed);
    let mut history = taken.history.clone();
    let make = |cut| {
        history.follow(&taken.recording, cut);
        disk.follow(&taken.recording, cut);
        let loss = Loss::new(rng.next_u64());
        let folder = tempfile::tempdir().expect("a folder");
        disk.leave(&loss, folder.path()).expect("an image");
        let checked = tokio::spawn(image::check(folder.path().to_path_buf(), history.clone()));
        Checking { cut, loss, folder, checked }
    };
    cuts.choose(count, &mut Rng::new(seed + 1)).into_iter().map(make).collect()
}

fn difference(disk: &Disk, folder: &Path) -> Option<String> {
    disk.difference(folder).expect("the folder is read")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn images_of_a_process_without_flushes_are_refused() {
    if writer::is_writer() {
        return;
    }
    let mut recordings = Recordings::new();
    let taken = recordings.next().await;
    let wrongs = refused(&taken, Flushes::Ignored).await;
    assert!(wrongs.len() >= 8, "only {} of 24 images are refused: {wrongs:?}", wrongs.len());
    // If the tables alone are flushed, some folders open and lack what was answered.
    let wrongs = refused(&taken, Flushes::IgnoredOf(".jnl")).await;
    let missing = wrongs.iter().filter(|wrong| wrong.contains("was flushed")).count();
    assert!(missing >= 1 && wrongs.len() >= 8, "only {} of 24 images are refused: {wrongs:?}", wrongs.len());
}

/// The reasons for which images of a recording are refused, out of 24.
async fn refused(taken: &Taken, flushes: Flushes) -> Vec<String> {
    let mut disk = taken.disk(flushes);
    let mut wrongs = Vec::new();
    for image in make_images(taken, &mut disk, &Cuts::of(&taken.recording), 24, 1) {
        let checked = image.checked.await.unwrap_or_else(|panic| Err(panic.to_string()));
        wrongs.extend(checked.err());
    }
    wrongs
}
