//! A folder that is opened while the disk fails.

use std::path::Path;

use alula_power::{Fail, Notes};
use alula_store::engine::{Durability, Engine as _, Fjall, FjallOpenError, FjallOptions};

use crate::support::fjall::{BUCKET, Put, get, put, write_terms};

fn open(folder: &Path) -> Result<Fjall, FjallOpenError> {
    Fjall::open(folder, FjallOptions::default())
}

/// Opens a new folder and one that has an object.
pub(crate) async fn play(folder: &Path, failure: Fail, notes: &Notes) {
    let (new, used) = (folder.join("new"), folder.join("used"));
    put(&open(&used).expect("a new folder"), b"k", Put::value(b"v")).await.expect("a write");

    notes.fail(failure).expect("an order");
    let error = open(&new).expect_err("the disk fails").to_string();
    let says = match failure {
        Fail::Full(_) => "No space left",
        Fail::Descriptors => "Too many open files",
        Fail::Rights => "Permission denied",
        Fail::Writes | Fail::Flushes | Fail::Never => "Input/output error",
    };
    assert!(error.contains(says) && error.contains("new"), "{error}");
    // Files that are there may be read without a write.
    match open(&used) {
        Ok(engine) => {
            let write =
                engine.write(BUCKET.object(b"k"), Put::value(b"w"), &write_terms(Durability::Flushed)).await;
            assert!(write.is_err(), "the disk fails");
        }
        Err(error) => assert!(error.to_string().contains(says), "{error}"),
    }

    if matches!(failure, Fail::Full(_)) {
        become_full(folder, notes).await;
    }
    notes.fail(Fail::Never).expect("an order");
    put(&open(&new).expect("the disk works"), b"k", Put::value(b"v")).await.expect("a write");
    let engine = open(&used).expect("the disk works");
    let value = get(&engine, BUCKET.object(b"k")).await.expect("an object").remove(0).2;
    assert!(value == b"v" || value == b"w", "{value:?}");
}

/// Opens new folders on disks that become full later and later, and once more when there is room.
async fn become_full(folder: &Path, notes: &Notes) {
    let mut failed = 0;
    for bytes in (1..20).map(|count| count * 2_000) {
        let folder = folder.join(bytes.to_string());
        notes.fail(Fail::Full(bytes)).expect("an order");
        failed += usize::from(open(&folder).is_err());
        notes.fail(Fail::Never).expect("an order");
        let engine = open(&folder).unwrap_or_else(|error| panic!("full after {bytes} bytes: {error}"));
        put(&engine, b"k", Put::value(b"v")).await.expect("a write");
    }
    assert!((3..19).contains(&failed), "{failed} did not open");
}
