//! Lists that leave out what was removed, beside the rows of the embedded engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use alula_testkit::Rng;

use super::gaps::Gap;
use crate::engine::fjall::space::upkeep_tests::{
    BUCKET, FIELD, Put, Removal, far, key, open, terms, write_out,
};
use crate::engine::fjall::*;
use crate::engine::{IndexRange, KeyRange, Page, Snapshot as _, layout};

/// The objects that wait in a queue, and those that went through it.
const WINDOW: usize = 10;
const DONE: usize = 2_000;

/// A few rows: what a query may pass of those that were removed.
const FEW: usize = 2 * WINDOW;

/// Returns the row of the entry of an object of the queue.
fn entry(number: usize) -> Vec<u8> {
    let (key, mut row) = (key(number), Vec::new());
    layout::put_index(BUCKET, FIELD, &mut row);
    layout::put_term(&key, &mut row);
    row.extend_from_slice(&key);
    row
}

fn object(number: usize) -> Vec<u8> {
    let mut row = Vec::new();
    BUCKET.object(&key(number)).write(&mut row);
    row
}

async fn first_entry(snapshot: &FjallSnapshot) -> Option<Vec<u8>> {
    let mut page = Page::new(1);
    let range = IndexRange { bucket: BUCKET, field: FIELD, low: b"", high: b"z", after: None };
    snapshot.entries(range, &mut page, far()).await.expect("a page");
    page.items().next().map(|item| item.key.to_vec())
}

async fn first_key(snapshot: &FjallSnapshot) -> Option<Vec<u8>> {
    let mut page = Page::new(1);
    snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await.expect("a page");
    page.items().next().map(|item| item.key.to_vec())
}

async fn first_bucket(snapshot: &FjallSnapshot) -> Option<Vec<u8>> {
    let mut page = Page::new(1);
    snapshot.buckets(BUCKET.bucket_type, None, &mut page, far()).await.expect("a page");
    page.items().next().map(|item| item.key.to_vec())
}

/// Opens an engine without upkeep, which keeps removed rows until its files are rewritten.
fn open_without_upkeep(folder: &tempfile::TempDir) -> Fjall {
    let mut engine = open(folder);
    drop(engine.upkeep.take());
    engine
}

/// Puts objects at the end of the queue and takes as many from its head.
async fn go_through(engine: &Fjall, numbers: std::ops::Range<usize>) {
    for number in numbers {
        engine.write(BUCKET.object(&key(number)), Put(key(number)), &terms()).await.expect("a write");
        if let Some(head) = number.checked_sub(WINDOW) {
            engine.write(BUCKET.object(&key(head)), Removal, &terms()).await.expect("a removal");
        }
    }
}

/// Returns the removed rows that the lists of a snapshot have passed, of those with numbers below `head`.
fn removed_rows_passed(snapshot: &FjallSnapshot, head: usize) -> usize {
    let removed: Vec<_> = (0..head).flat_map(|number| [entry(number), object(number)]).collect();
    let is_in = |row: &[u8], run: &Gap| *run.low <= *row && run.end.as_ref().is_none_or(|end| *row < **end);
    let passed = snapshot.passed();
    passed.iter().map(|run| removed.iter().filter(|row| is_in(row, run)).count()).sum()
}

/// Asks for the head of the queue and returns the removed rows that this passed.
async fn ask(engine: &Fjall, head: usize) -> usize {
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let expected = Some(key(head));
    assert_eq!(first_entry(&snapshot).await, expected);
    assert_eq!(first_key(&snapshot).await, expected);
    assert_eq!(first_bucket(&snapshot).await, Some(BUCKET.bucket.to_vec()));
    assert!(snapshot.passed().len() >= 3, "gaps are off");
    removed_rows_passed(&snapshot, head)
}

#[tokio::test]
async fn a_query_at_the_head_of_a_queue_passes_few_removed_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open_without_upkeep(&folder);
    go_through(&engine, 0..DONE).await;
    let _ = ask(&engine, DONE - WINDOW).await;
    for step in 1..20 {
        let done = DONE + step * 5;
        go_through(&engine, done - 5..done).await;
        let passed = ask(&engine, done - WINDOW).await;
        assert!(passed <= FEW, "{passed} at {done}");
    }
}

#[tokio::test]
async fn an_object_that_stays_at_the_head_of_a_queue_hides_no_gap() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open_without_upkeep(&folder);
    go_through(&engine, 0..DONE).await;
    engine.write(BUCKET.object(b"a"), Put(b"a".to_vec()), &terms()).await.expect("a write");
    for pass in 0..3 {
        let snapshot = engine.snapshot(far()).await.expect("a snapshot");
        assert_eq!(first_entry(&snapshot).await.as_deref(), Some(&b"a"[..]));
        assert_eq!(first_key(&snapshot).await.as_deref(), Some(&b"a"[..]));
        let passed = removed_rows_passed(&snapshot, DONE - WINDOW);
        assert!(passed == 0 || pass == 0, "{passed} in pass {pass}");
    }
}

#[tokio::test]
async fn the_first_list_after_a_start_finds_the_gaps_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open_without_upkeep(&folder);
    go_through(&engine, 0..DONE).await;
    write_out(&engine).await;
    drop(engine);
    let engine = open_without_upkeep(&folder);
    let head = DONE - WINDOW;
    let _ = ask(&engine, head).await;
    assert_eq!(ask(&engine, head).await, 0);
}

/// The objects of the checker: few, so that each is often put and removed.
const OBJECTS: usize = 40;

async fn write_at_random(engine: Arc<Fjall>, seed: u64, writers: Arc<AtomicUsize>) {
    let mut rng = Rng::new(seed);
    for _ in 0..1_500 {
        let key = key(rng.below(OBJECTS));
        let name = BUCKET.object(&key);
        match rng.below(5) {
            0 => _ = engine.write(name, Put(key.clone()), &terms()).await.expect("a write"),
            _ => _ = engine.write(name, Removal, &terms()).await.expect("a removal"),
        }
    }
    writers.fetch_sub(1, Relaxed);
}

async fn keys(snapshot: &FjallSnapshot, items: usize) -> Vec<Vec<u8>> {
    let (mut page, mut rows) = (Page::new(items), Vec::<Vec<u8>>::new());
    loop {
        let after = rows.last().map(|row| ObjectName::read(row).expect("a name").key);
        let range = KeyRange { bucket: BUCKET, low: b"", high: None, after };
        snapshot.keys(range, &mut page, far()).await.expect("a page");
        let names = page.items().map(|item| {
            let mut row = Vec::new();
            BUCKET.object(item.key).write(&mut row);
            row
        });
        rows.extend(names.collect::<Vec<_>>());
        if page.is_last() {
            return rows;
        }
    }
}

async fn entries(snapshot: &FjallSnapshot) -> Vec<Vec<u8>> {
    let mut page = Page::new(2 * OBJECTS);
    let range = IndexRange { bucket: BUCKET, field: FIELD, low: b"", high: b"z", after: None };
    snapshot.entries(range, &mut page, far()).await.expect("a page");
    let row = |key: &[u8]| {
        let mut row = Vec::new();
        layout::put_index(BUCKET, FIELD, &mut row);
        layout::put_term(key, &mut row);
        row.extend_from_slice(key);
        row
    };
    page.items().map(|item| row(item.key)).collect()
}

async fn list_at_random(engine: Arc<Fjall>, seed: u64, writers: Arc<AtomicUsize>) -> usize {
    let (mut rng, mut lists, mut old) = (Rng::new(seed), 0, None);
    while writers.load(Relaxed) > 0 || lists == 0 {
        let snapshot = engine.snapshot(far()).await.expect("a snapshot");
        // One that is older than gaps that others found meanwhile.
        let older = old.replace(snapshot);
        let Some(snapshot) = older.filter(|_| rng.below(3) > 0).or_else(|| old.take()) else { continue };
        let items = 1 + rng.below(2 * OBJECTS);
        assert_eq!(keys(&snapshot, items).await, snapshot.keys_of(Table::Objects), "pages of {items}");
        assert_eq!(entries(&snapshot).await, snapshot.keys_of(Table::Entries));
        lists += usize::from(!snapshot.passed().is_empty());
        tokio::task::yield_now().await;
    }
    lists
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_beside_writes_have_the_rows_that_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(open(&folder));
    let writers = Arc::new(AtomicUsize::new(4));
    let writes: Vec<_> = (0..4)
        .map(|seed| tokio::spawn(write_at_random(Arc::clone(&engine), seed, Arc::clone(&writers))))
        .collect();
    let lists: Vec<_> = (0..3)
        .map(|seed| tokio::spawn(list_at_random(Arc::clone(&engine), seed, Arc::clone(&writers))))
        .collect();
    for write in writes {
        write.await.expect("a writer");
    }
    let mut count = 0;
    for list in lists {
        count += list.await.expect("a list is not what is there");
    }
    assert!(count > 100, "{count} lists around gaps");
}
