//! The check of one folder that a loss of power left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use alula_store::engine::{Engine as _, Fjall};

use super::history::{History, Key};
use super::writer::{FIELD, key, options};
use crate::support::fjall::{BUCKET, Put, check_entries, far, get, put};

/// The counts of a folder that has all that it must have.
pub(crate) struct Checked {
    /// The keys of which a write was answered as flushed.
    pub(crate) checked: usize,
    pub(crate) cut_tails: usize,
}

/// Checks that a folder opens, that it has what was flushed, that its indexes and lists agree with its
/// objects, that it takes a write, and all of that once more.
pub(crate) async fn check(folder: PathBuf, history: History) -> Result<Checked, String> {
    let engine = open(&folder)?;
    let checked = check_open(&engine, &history).await?;
    let cut_tails = engine.cut_tails().len();
    put(&engine, b"after", Put::value(b"after").entry(FIELD, b"after"))
        .await
        .map_err(|error| format!("it takes no write: {error}"))?;
    drop(engine);
    let engine = open(&folder)?;
    check_open(&engine, &history).await?;
    let after = get(&engine, BUCKET.object(b"after")).await;
    if after.is_none_or(|contents| contents[0].2 != b"after") {
        return Err("the write after it is missing".into());
    }
    Ok(Checked { checked, cut_tails })
}

/// Opens a folder and tells what is in it.
pub(crate) async fn look_at(folder: &Path, history: &History) -> History {
    let engine = open(folder).expect("the folder opens");
    let mut found = BTreeMap::new();
    for key in history.keys() {
        found.insert(*key, count(&engine, key).await.expect("one content"));
    }
    History::of(&found)
}

fn open(folder: &Path) -> Result<Fjall, String> {
    Fjall::open(folder, options()).map_err(|error| format!("it does not open: {error}"))
}

async fn check_open(engine: &Fjall, history: &History) -> Result<usize, String> {
    let mut checked = 0;
    for key in history.keys() {
        checked += usize::from(history.check(key, count(engine, key).await?)?);
    }
    let snapshot = engine.snapshot(far()).await.map_err(|error| error.to_string())?;
    check_entries(&snapshot, BUCKET, FIELD).await;
    Ok(checked)
}

/// The count that a key has; `None` if it has no object.
async fn count(engine: &Fjall, (task, number): &Key) -> Result<Option<u64>, String> {
    let contents = get(engine, BUCKET.object(&key(*task, *number))).await;
    let Some(contents) = contents else { return Ok(None) };
    match &contents[..] {
        [(_, _, value)] => {
            let count = value[..8].try_into().map_err(|_| "a short value")?;
            Ok(Some(u64::from_be_bytes(count)))
        }
        other => Err(format!("({task}, {number}) has {} contents", other.len())),
    }
}
