//! Processes that write are killed at random points, and what they had been answered for is there.
//!
//! This proves nothing about flushing: the system keeps what a killed process has written.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use crate::support::fjall::{BUCKET, Put, Removal, check_entries, far, get, write_terms};
use alula_store::engine::{Durability, Engine, Fjall, FjallOptions};
use alula_testkit::Rng;

/// The folder that a process writes to until it is killed.
const FOLDER: &str = "ALULA_STORE_TEST_FOLDER";

/// The processes that are killed, if the variable `ALULA_STORE_KILLS` says no other number.
const KILLS: u64 = 20;
const TASKS: u64 = 8;
const KEYS: u64 = 30;

/// The number of the keys that are also removed: one may be missing whatever was answered.
const REMOVED: u64 = 1;

/// The key that a task writes: each has keys of its own, some of them long.
fn key(task: u64, number: u64) -> Vec<u8> {
    let mut key = format!("{task}-{number}").into_bytes();
    if number == 0 {
        key.splice(0..0, vec![b'l'; 9000]);
    }
    key
}

/// Writes until it is killed, and prints each write that it was answered for. Does nothing in an ordinary run
/// of the tests.
#[tokio::test(flavor = "multi_thread")]
async fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let engine = Arc::new(Fjall::open(folder, small_options()).expect("the folder opens"));
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        tasks.spawn(write_all(Arc::clone(&engine), task));
    }
    tasks.join_all().await;
}

async fn write_all(engine: Arc<Fjall>, task: u64) {
    let mut rng = Rng::new(task ^ u64::from(std::process::id()));
    // Counts go on where an earlier process may have ended.
    let start =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_micros();
    for count in start as u64.. {
        let number = rng.below(KEYS as usize) as u64;
        let key = key(task, number);
        let durability = if rng.one_in(2) { Durability::Flushed } else { Durability::Buffered };
        let terms = write_terms(durability);
        let name = BUCKET.object(&key);
        let written = if number == REMOVED && rng.one_in(2) {
            engine.write(name, Removal, &terms).await.map(drop)
        } else {
            let len = *rng.pick(&[8, 100, 6000]);
            let mut value = count.to_be_bytes().to_vec();
            value.resize(len, 7);
            let mut put = Put { is_deleted: rng.one_in(8), ..Put::value(value) };
            for _ in 0..rng.below(4) {
                put = put.entry(b"n_bin", &rng.bytes_of(b"ab", 3));
            }
            engine.write(name, put, &terms).await.map(drop)
        };
        written.expect("a write");
        let line = format!("\nanswered {task} {number} {count}\n");
        std::io::stdout().write_all(line.as_bytes()).expect("a test that reads");
    }
}

fn small_options() -> FjallOptions {
    let mut options = FjallOptions::default();
    options.memtable_bytes = 256 * 1024;
    options
}

fn start(folder: &Path) -> Child {
    let mut command = alula_testkit::again("fjall::kill::writes_until_it_is_killed");
    command.arg("--nocapture").env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("this test again")
}

/// Kills the process after some answers and returns the last count that it was answered for, by task and
/// number.
fn kill_after(mut child: Child, answers: usize, last: &mut HashMap<(u64, u64), u64>) -> usize {
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let (mut line, mut read) = (String::new(), 0);
    loop {
        line.clear();
        if lines.read_line(&mut line).expect("a line") == 0 {
            break;
        }
        // The last line may be cut off.
        let Some(answer) = line.strip_prefix("answered ").and_then(|line| line.strip_suffix('\n')) else {
            continue;
        };
        let numbers: Vec<u64> = answer.split(' ').map(|number| number.parse().expect("a number")).collect();
        last.insert((numbers[0], numbers[1]), numbers[2]);
        read += 1;
        if read == answers {
            child.kill().expect("the process runs");
        }
    }
    child.wait().expect("the process ends");
    read
}

fn kills() -> u64 {
    let kills = std::env::var("ALULA_STORE_KILLS").ok();
    kills.map_or(KILLS, |kills| kills.parse().expect("ALULA_STORE_KILLS is a number"))
}

#[tokio::test]
async fn what_was_answered_is_there_after_each_kill() {
    if std::env::var_os(FOLDER).is_some() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(9);
    let (mut last, mut total, mut checked, mut cut_tails) = (HashMap::new(), 0, 0, 0);
    for kill in 0..kills() {
        let answers = rng.range(1..400);
        let read = kill_after(start(folder.path()), answers, &mut last);
        assert!(read >= answers, "the process ended before it was killed");
        total += read;
        let engine = Fjall::open(folder.path(), small_options()).expect("the folder opens");
        for ((task, number), answered) in &last {
            let contents = get(&engine, BUCKET.object(&key(*task, *number))).await;
            let Some(contents) = contents else {
                assert_eq!(*number, REMOVED, "kill {kill}: {task} {number} is missing");
                continue;
            };
            assert_eq!(contents.len(), 1);
            let count = u64::from_be_bytes(contents[0].2[..8].try_into().expect("a count"));
            assert!(count >= *answered, "kill {kill}: {task} {number} has {count} and not {answered}");
            checked += 1;
        }
        cut_tails += engine.cut_tails().len();
        let snapshot = engine.snapshot(far()).await.expect("a snapshot");
        check_entries(&snapshot, BUCKET, b"n_bin").await;
    }
    assert!(total > 0);
    println!(
        "kill -9: {} processes killed, {total} answered writes, {checked} of them checked, {cut_tails} tails cut off",
        kills()
    );
}
