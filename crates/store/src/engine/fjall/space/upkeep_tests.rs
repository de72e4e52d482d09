//! The upkeep beside rows that were removed: those left on disk, and those that a query reads past.

use std::ops::Range;
use std::time::Duration;

use crate::engine::fjall::hidden;
use crate::engine::fjall::tables::Table;
use crate::engine::fjall::*;
use crate::engine::{BucketName, IndexRange, Mark, Page, Snapshot as _, Verdict};
use crate::model::{Attribute, Context, NewContent, Record, Rules, write};

const RULES: Rules =
    Rules { allow_mult: false, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
pub(in crate::engine::fjall) const BUCKET: BucketName<'static> =
    BucketName { bucket_type: b"default", bucket: b"queue" };
pub(in crate::engine::fjall) const FIELD: &[u8] = b"due_bin";

/// The objects of a queue, many for a debug build.
const OBJECTS: usize = 4_000;

/// The bytes of a value: some go to a file of values.
const VALUE_BYTES: usize = 5_000;

pub(in crate::engine::fjall) struct Put(pub(in crate::engine::fjall) Vec<u8>);

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let mut attributes = Vec::new();
        Attribute::BinaryEntry { field: FIELD, term: &self.0 }.write(&mut attributes);
        let value = &[7; VALUE_BYTES];
        let new = NewContent { dot, vtag, now, is_deleted: false, attributes: &attributes, value };
        write(stored, Context::EMPTY, &new, &RULES, out).expect("a short value");
        Verdict::Write
    }
}

pub(in crate::engine::fjall) struct Removal;

impl Decide for Removal {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        Verdict::Remove
    }
}

pub(in crate::engine::fjall) fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(in crate::engine::fjall) fn open(folder: &tempfile::TempDir) -> Fjall {
    Fjall::open(folder.path(), FjallOptions::default()).expect("a folder that opens")
}

pub(in crate::engine::fjall) fn terms() -> WriteTerms {
    let durability = Durability::Buffered;
    WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline: far() }
}

pub(in crate::engine::fjall) fn key(number: usize) -> Vec<u8> {
    format!("k{number:08}").into_bytes()
}

pub(in crate::engine::fjall) async fn put_all(engine: &Fjall) {
    for number in 0..OBJECTS {
        let key = key(number);
        engine.write(BUCKET.object(&key), Put(key.clone()), &terms()).await.expect("a write");
    }
}

pub(in crate::engine::fjall) async fn remove(engine: &Fjall, numbers: Range<usize>) {
    for number in numbers {
        engine.write(BUCKET.object(&key(number)), Removal, &terms()).await.expect("a removal");
    }
}

/// Returns the most rows that all queries would pass: those that are kept, and the marks of removed ones.
fn rows(engine: &Fjall) -> usize {
    let tables = engine.shared.tables().expect("open tables");
    [Table::Objects, Table::Entries].map(|table| tables.table(table).approximate_len()).iter().sum()
}

fn bytes(engine: &Fjall) -> u64 {
    let tables = engine.shared.tables().expect("open tables");
    Table::ALL.map(|table| tables.table(table).disk_space()).iter().sum()
}

/// Waits for the upkeep, which nobody else can hear of.
async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn entries(engine: &Fjall) -> usize {
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let mut page = Page::new(1);
    let range = IndexRange { bucket: BUCKET, field: FIELD, low: b"", high: b"z", after: None };
    snapshot.entries(range, &mut page, far()).await.expect("a page");
    page.items().len()
}

#[tokio::test]
async fn removed_rows_go_without_new_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put_all(&engine).await;
    assert!(rows(&engine) >= 2 * OBJECTS);
    remove(&engine, 0..OBJECTS).await;
    wait_until("removed rows stay", || rows(&engine) == 0).await;
    wait_until("their bytes stay", || bytes(&engine) < VALUE_BYTES as u64 * 100).await;
    assert_eq!(entries(&engine).await, 0);
}

/// Has fjall write what is in memory to files, as it does when there is more of it.
pub(in crate::engine::fjall) async fn write_out(engine: &Fjall) {
    let tables = engine.shared.tables().expect("open tables");
    let keyspaces = || Table::ALL.into_iter().map(|table| tables.table(table));
    keyspaces().for_each(|keyspace| hidden::write_out(keyspace).expect("a file"));
    wait_until("no file is written", || keyspaces().all(|keyspace| keyspace.sealed_memtable_count() == 0))
        .await;
}

#[tokio::test]
async fn values_in_files_go_with_their_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put_all(&engine).await;
    write_out(&engine).await;
    assert!(bytes(&engine) > (OBJECTS * VALUE_BYTES) as u64);
    remove(&engine, 0..OBJECTS).await;
    wait_until("removed rows stay", || rows(&engine) == 0).await;
    wait_until("their bytes stay", || bytes(&engine) < VALUE_BYTES as u64 * 100).await;
}

#[tokio::test]
async fn removed_rows_go_while_writes_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    let (start, mut number) = (Instant::now(), 0);
    // More than one compaction: the rows that are there never become as many as those that were removed.
    let mut compactions = 0;
    while compactions < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "{} rows of {number} stay", rows(&engine));
        let before = rows(&engine);
        for number in number..number + 50 {
            let key = key(number);
            engine.write(BUCKET.object(&key), Put(key.clone()), &terms()).await.expect("a write");
            engine.write(BUCKET.object(&key), Removal, &terms()).await.expect("a removal");
        }
        number += 50;
        compactions += usize::from(rows(&engine) < before);
    }
}

#[tokio::test]
async fn rows_that_were_removed_before_a_restart_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put_all(&engine).await;
    remove(&engine, 0..OBJECTS).await;
    drop(engine);
    let engine = open(&folder);
    wait_until("removed rows stay", || rows(&engine) == 0).await;
    assert_eq!(entries(&engine).await, 0);
}

/// Values that fill several journals.
const LONG_VALUES: usize = 160;

struct PutLong;

impl Decide for PutLong {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let value = &vec![7; 1024 * 1024];
        let new = NewContent { dot, vtag, now, is_deleted: false, attributes: b"", value };
        let rules = Rules { bytes_max: 1 << 30, ..RULES };
        write(stored, Context::EMPTY, &new, &rules, out).expect("a short value");
        Verdict::Write
    }
}

#[tokio::test]
async fn journals_go_before_a_table_becomes_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    for number in 0..LONG_VALUES {
        engine.write(BUCKET.object(&key(number)), PutLong, &terms()).await.expect("a write");
    }
    remove(&engine, 0..LONG_VALUES).await;
    wait_until("removed rows stay", || rows(&engine) == 0).await;
    let tables = engine.shared.tables().expect("open tables");
    wait_until("journals stay", || tables.journals() == 1).await;
}

/// Counts the rows in memory and the marks in files of all tables.
fn unwritten_and_removed(engine: &Fjall) -> u64 {
    let tables = engine.shared.tables().expect("open tables");
    let of = |table| hidden::rows_in_memory(tables.table(table)) + hidden::removals(tables.table(table));
    Table::ALL.map(of).iter().sum()
}

#[tokio::test]
async fn removed_rows_are_gone_when_a_folder_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut engine = open(&folder);
    // Nothing is cleared before the end, as with a program that is killed under load.
    drop(engine.upkeep.take());
    put_all(&engine).await;
    remove(&engine, 0..OBJECTS).await;
    drop(engine);
    let engine = open(&folder);
    assert_eq!(unwritten_and_removed(&engine), 0, "the first query would pass them");
    assert_eq!(entries(&engine).await, 0);
}

fn journal_bytes(folder: &tempfile::TempDir) -> u64 {
    let files =
        std::fs::read_dir(folder.path().join("fjall")).expect("a folder").map(|file| file.expect("a file"));
    let journals = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "jnl"));
    journals.map(|journal| journal.metadata().expect("a file").len()).sum()
}

fn last_batch(engine: &Fjall) -> u64 {
    let tables = engine.shared.tables().expect("open tables");
    tables.last_mark(engine.shared.folder.id()).expect("a row").expect("a mark").number
}

async fn is_there(engine: &Fjall, number: usize) -> bool {
    let (notfound_ok, basic_quorum) = (true, false);
    let terms = ReadTerms { n: 1, r: 1, pr: 0, node_confirms: 0, notfound_ok, basic_quorum, deadline: far() };
    engine.get(BUCKET.object(&key(number)), &terms).await.expect("a read").is_some()
}

#[tokio::test]
async fn a_journal_whose_rows_are_in_files_is_empty_after_an_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut engine = open(&folder);
    // It compacts when that is worth it, and would leave some rows in memory or none.
    drop(engine.upkeep.take());
    put_all(&engine).await;
    remove(&engine, 0..OBJECTS / 2).await;
    write_out(&engine).await;
    let last = last_batch(&engine);
    drop(engine);
    assert_eq!(journal_bytes(&folder), 0);

    let engine = open(&folder);
    assert_eq!((unwritten_and_removed(&engine), last_batch(&engine)), (0, last));
    assert!(!is_there(&engine, 0).await && is_there(&engine, OBJECTS - 1).await);
    engine.write(BUCKET.object(&key(0)), Put(key(0)), &terms()).await.expect("a write");
    drop(engine);
    assert!(journal_bytes(&folder) > 0, "it has a row that is in no file");

    let engine = open(&folder);
    assert!(is_there(&engine, 0).await && is_there(&engine, OBJECTS - 1).await);
    assert_eq!(last_batch(&engine), last + 1);
}
