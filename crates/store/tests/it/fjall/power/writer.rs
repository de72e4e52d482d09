//! The process that writes: several tasks, each with keys of its own, with index entries, deletes, removals
//! and long keys.

use std::sync::Arc;

use alula_power::Notes;
use alula_store::engine::{Durability, Engine as _, Fjall, FjallOptions};
use alula_testkit::Rng;
use tokio::task::JoinSet;

use crate::support::fjall::{BUCKET, Put, Removal, write_terms};

/// The variables that make this test binary a writer: its folder, its seed, the writes of each task, and the
/// bytes of each eighth value.
pub(crate) const FOLDER: &str = "ALULA_STORE_POWER_FOLDER";
pub(crate) const SEED: &str = "ALULA_STORE_POWER_SEED";
pub(crate) const WRITES: &str = "ALULA_STORE_POWER_WRITES";
pub(crate) const LARGE: &str = "ALULA_STORE_POWER_LARGE";

const TASKS: u64 = 6;
const KEYS: usize = 20;

/// The index that the entries are of.
pub(crate) const FIELD: &[u8] = b"n_bin";

pub(crate) fn is_writer() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// Returns true if the writer of this seed fills journals, which have 64,000,000 bytes.
pub(crate) const fn is_large(seed: u64) -> bool {
    seed % 10 == 2
}

/// The key of a task: some are long.
pub(crate) fn key(task: u64, number: u64) -> Vec<u8> {
    let mut key = format!("{task}-{number}").into_bytes();
    if number.is_multiple_of(9) {
        key.splice(0..0, vec![b'l'; 9000]);
    }
    key
}

/// Few bytes are kept in memory, so that files of tables are written and compacted all the time.
pub(crate) fn options() -> FjallOptions {
    let mut options = FjallOptions::default();
    options.memtable_bytes = 32 * 1024;
    options
}

fn number(variable: &str) -> u64 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).expect("a number")
}

/// Writes, if this process is to.
pub(crate) async fn run() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let notes = Arc::new(Notes::open().expect("notes").expect("a recorded process"));
    let engine = Arc::new(Fjall::open(folder, options()).expect("the folder opens"));
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        tasks.spawn(write_all(Arc::clone(&engine), Arc::clone(&notes), task));
    }
    tasks.join_all().await;
}

async fn write_all(engine: Arc<Fjall>, notes: Arc<Notes>, task: u64) {
    let (seed, large) = (number(SEED), number(LARGE) as usize);
    let mut rng = Rng::new(seed ^ task << 40);
    // When few writes are flushed, many wait for it together.
    let one_flushed_in = [2, 40, 8][usize::try_from(seed % 3).expect("a short number")];
    for count in 0..number(WRITES) {
        let count = seed << 24 | count;
        let number = rng.below(KEYS) as u64;
        let is_removal = rng.one_in(10);
        let durability = if rng.one_in(one_flushed_in) { Durability::Flushed } else { Durability::Buffered };
        let label = if durability == Durability::Flushed { "flushed" } else { "buffered" };
        let written = if is_removal { "removal".to_owned() } else { count.to_string() };
        notes.leave(&format!("begun {task} {number} {written} {label}")).expect("a note");
        let (key, terms) = (key(task, number), write_terms(durability));
        let written = if is_removal {
            engine.write(BUCKET.object(&key), Removal, &terms).await.map(drop)
        } else {
            engine.write(BUCKET.object(&key), some_put(count, large, &mut rng), &terms).await.map(drop)
        };
        written.expect("a write");
        notes.leave(&format!("answered {task} {number}")).expect("a note");
    }
}

fn some_put(count: u64, large: usize, rng: &mut Rng) -> Put {
    let len = if large > 0 && rng.one_in(8) { large } else { *rng.pick(&[8, 100, 700, 6000]) };
    let mut value = count.to_be_bytes().to_vec();
    value.resize(len, b'v');
    let mut put = Put { is_deleted: rng.one_in(8), ..Put::value(value) };
    for _ in 0..rng.below(4) {
        put = put.entry(FIELD, &rng.bytes_of(b"ab", 3));
    }
    put
}
