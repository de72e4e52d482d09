//! A store over HTTP whose disk fails, and works again.
//!
//! The store runs in a process of its own, whose calls of the system `crates/disk-recorder` lets fail when it
//! says so. Afterwards the power is lost, too: what was answered is still there.
#![cfg(target_os = "linux")]

mod opening;
mod server;

use std::path::Path;
use std::process::Stdio;

use crate::support::fjall::{check_entries, far, get};
use alula_power::{Disk, Entry, Fail, Flushes, Loss, Notes, Recorded, Recording};
use alula_store::engine::{Engine as _, Fjall, FjallOptions};
use server::{FIELD, key, value};

/// The variables that make this test binary a store whose disk fails: its folder, and the failure.
const FOLDER: &str = "ALULA_STORE_FAILURE_FOLDER";
const FAILURE: &str = "ALULA_STORE_FAILURE";

/// The folders that a loss of power leaves of each recording.
const IMAGES: u64 = 4;

const FAILURES: [(&str, Fail); 9] = [
    ("full", Fail::Full(0)),
    ("full-soon", Fail::Full(77_777)),
    ("full-later", Fail::Full(333_333)),
    ("full-at-last", Fail::Full(1_111_111)),
    ("short-write", Fail::Full(60)),
    ("failed-write", Fail::Writes),
    ("failed-flush", Fail::Flushes),
    ("no-descriptors", Fail::Descriptors),
    ("no-rights", Fail::Rights),
];

fn failure(name: &str) -> Fail {
    FAILURES.iter().find(|(known, _)| *known == name).expect("a failure of this name").1
}

/// Is a store whose disk fails. Does nothing in an ordinary run of the tests.
#[tokio::test(flavor = "multi_thread")]
async fn serves_while_its_disk_fails() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let notes = Notes::open().expect("notes").expect("a recorded process");
    let name = std::env::var(FAILURE).expect("a failure");
    match name.strip_prefix("opening-") {
        Some(name) => opening::play(folder.as_ref(), failure(name), &notes).await,
        None => server::play(folder.as_ref(), failure(&name), &notes).await,
    }
}

/// Starts this test as a store and records it to its end.
fn record(folder: &Path, failure: &str) -> Recording {
    let mut command = alula_testkit::again("fjall::failures::serves_while_its_disk_fails");
    command.arg("--nocapture").stdout(Stdio::null()).env(FOLDER, folder).env(FAILURE, failure);
    let recorded = Recorded::new(&mut command, folder, "recording").expect("a recorder");
    let output = command.stderr(Stdio::piped()).output().expect("this test again");
    assert!(output.status.success(), "{failure}: {}", String::from_utf8_lossy(&output.stderr));
    recorded.recording().expect("a recording")
}

async fn check(name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let recording = record(&data, name);
    for seed in 0..IMAGES {
        let mut disk = Disk::empty(Flushes::Kept, seed);
        disk.follow(&recording, recording.entries().len());
        // Bytes that a failed flush has lost are still in the memory of the system.
        let has_lost = recording.entries().iter().any(|entry| matches!(entry, Entry::FailedFlush { .. }));
        assert!(has_lost || disk.difference(&data).expect("the folder is read").is_none(), "{name}");
        let image = folder.path().join(format!("image-{seed}"));
        disk.leave(&Loss::new(seed), &image).expect("an image");
        check_image(&image, &recording).await;
    }
    check_image(&data, &recording).await;
}

/// Checks that a folder has all that was answered, and that its entries agree with its objects.
async fn check_image(folder: &Path, recording: &Recording) {
    let engine = Fjall::open(folder, FjallOptions::default()).expect("the folder opens");
    let mut count = 0;
    for entry in recording.entries() {
        let Entry::Note { bytes } = entry else { continue };
        let note = std::str::from_utf8(bytes).expect("a text");
        let number = note.strip_prefix("note answered ").expect("a write").parse().expect("a number");
        let contents = get(&engine, server::BUCKET.object(key(number).as_bytes())).await;
        let contents = contents.unwrap_or_else(|| panic!("{number} is missing"));
        assert!(contents.len() == 1 && contents[0].2 == value(number), "{number} has another value");
        count += 1;
    }
    assert!(count > 2, "only {count} writes were answered");
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    check_entries(&snapshot, server::BUCKET, FIELD).await;
}

#[tokio::test]
async fn a_full_disk_ends_no_store() {
    check("full").await;
}

/// Whatever is being written by then: a journal, a file of a table, a compaction.
#[tokio::test]
async fn a_disk_that_becomes_full_ends_no_store() {
    for name in ["full-soon", "full-later", "full-at-last"] {
        check(name).await;
    }
}

#[tokio::test]
async fn a_short_write_ends_no_store() {
    check("short-write").await;
}

#[tokio::test]
async fn a_failed_write_ends_no_store() {
    check("failed-write").await;
}

#[tokio::test]
async fn a_failed_flush_ends_no_store() {
    check("failed-flush").await;
}

#[tokio::test]
async fn a_want_of_descriptors_ends_no_store() {
    check("no-descriptors").await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_does_not_open() {
    for name in ["full", "short-write", "failed-write", "failed-flush", "no-descriptors", "no-rights"] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        std::fs::create_dir(&data).expect("a folder");
        record(&data, &format!("opening-{name}"));
    }
}
