//! Failures of the disk, planted.

use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::faults::Step;
use super::*;
use crate::engine::{BucketName, KeyRange, Mark, Page, Snapshot as _, Verdict};
use crate::model::{Actor, Context, NewContent, Record, Rules, write};

const RULES: Rules =
    Rules { allow_mult: false, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
const BUCKET: BucketName<'static> = BucketName { bucket_type: b"default", bucket: b"b" };

struct Put(&'static [u8]);

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let new = NewContent { dot, vtag, now, is_deleted: false, attributes: b"", value: self.0 };
        write(stored, Context::EMPTY, &new, &RULES, out).expect("a short value");
        Verdict::Write
    }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn open(folder: &tempfile::TempDir) -> Fjall {
    Fjall::open(folder.path(), FjallOptions::default()).expect("a folder that opens")
}

async fn put(engine: &Fjall, key: &[u8], value: &'static [u8]) -> Result<Actor, EngineError> {
    let durability = Durability::Flushed;
    let terms = WriteTerms { n: 3, w: 2, pw: 0, dw: 1, node_confirms: 0, durability, deadline: far() };
    let record = engine.write(BUCKET.object(key), Put(value), &terms).await?.record.expect("a record");
    Ok(Record::read(&record).expect("a record").single().expect("one content").dot().actor())
}

async fn get(engine: &Fjall, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
    let terms = ReadTerms {
        n: 3,
        r: 2,
        pr: 0,
        node_confirms: 0,
        notfound_ok: true,
        basic_quorum: false,
        deadline: far(),
    };
    let value = |record: Slice| {
        let content = Record::read(&record).expect("a record").single().expect("one content");
        content.value().to_vec()
    };
    Ok(engine.get(BUCKET.object(key), &terms).await?.map(value))
}

/// Waits until writes are taken again, and checks that reads go on until then.
async fn wait_for_writes(engine: &Fjall) {
    let start = Instant::now();
    while !engine.takes_writes() {
        assert!(start.elapsed() < Duration::from_secs(30), "it is not opened anew");
        let read = get(engine, b"before").await;
        assert!(matches!(&read, Ok(Some(value)) if value == b"before"), "{read:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(get(engine, b"before").await.expect("a read").as_deref(), Some(&b"before"[..]));
}

#[tokio::test]
async fn after_a_failed_write_the_engine_is_opened_anew() {
    for (step, is_kept) in [(Step::Commit, false), (Step::Committed, true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = open(&folder);
        let before = put(&engine, b"before", b"before").await.expect("a write");
        let snapshot = engine.snapshot(far()).await.expect("a snapshot");
        engine.shared.faults.plant(Step::Probe, 2);
        engine.shared.faults.plant(step, 1);

        let failed = put(&engine, b"k", b"failed").await;
        assert!(matches!(failed, Err(EngineError::Unknown(_))), "{failed:?}");
        assert!(!engine.takes_writes());
        let refused = put(&engine, b"k", b"refused").await;
        assert!(matches!(refused, Err(EngineError::WritesRefused)), "{refused:?}");
        let set = engine.set(b"name", Some(b"value"), far()).await;
        assert!(matches!(set, Err(EngineError::WritesRefused)), "{set:?}");
        assert_eq!(get(&engine, b"before").await.expect("reads go on").as_deref(), Some(&b"before"[..]));

        wait_for_writes(&engine).await;
        let kept = get(&engine, b"k").await.expect("a read");
        assert_eq!(kept.is_some(), is_kept, "{step:?}");
        let after = put(&engine, b"k", b"after").await.expect("a write");
        assert_ne!(before, after, "the actor is a new one");
        let mut page = Page::new(10);
        let read = snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await;
        assert!(matches!(read, Err(EngineError::Reopening)), "{read:?}");

        drop(engine);
        let engine = open(&folder);
        assert_eq!(get(&engine, b"k").await.expect("a read").as_deref(), Some(&b"after"[..]));
    }
}

/// Writes a large value once it may go on.
struct Held {
    begun: Sender<()>,
    go_on: Receiver<()>,
}

impl Decide for Held {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        self.begun.send(()).expect("a test that waits");
        // A test that fails goes away.
        let _ = self.go_on.recv();
        Put(LARGE).decide(stored, mark, out)
    }
}

const LARGE: &[u8] = &[7; 512 * 1024];

/// A decision on a large object that is under way when another write fails is not written, nor are those that
/// wait for it, and the object is written again afterwards.
#[tokio::test]
async fn a_failed_write_ends_the_decisions_under_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put(&engine, b"before", b"before").await.expect("a write");
    put(&engine, b"large", LARGE).await.expect("a write");
    let ((begun, is_begun), (go, go_on)) = (channel(), channel());
    let durability = Durability::Flushed;
    let terms = WriteTerms { n: 3, w: 2, pw: 0, dw: 1, node_confirms: 0, durability, deadline: far() };
    let mut held = pin!(engine.write(BUCKET.object(b"large"), Held { begun, go_on }, &terms));
    let mut waiting = pin!(put(&engine, b"large", b"waits"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(held.as_mut().poll(&mut context).is_pending(), "it is queued");
    is_begun.recv_timeout(Duration::from_secs(60)).expect("it is begun");
    assert!(waiting.as_mut().poll(&mut context).is_pending(), "it is queued");
    engine.shared.faults.plant(Step::Commit, 1);
    let failed = put(&engine, b"k", b"failed").await;
    assert!(matches!(failed, Err(EngineError::Unknown(_))), "{failed:?}");
    let waited = waiting.await;
    assert!(matches!(waited, Err(EngineError::WritesRefused)), "{waited:?}");
    go.send(()).expect("it goes on");
    let held = held.await;
    assert!(matches!(held, Err(EngineError::WritesRefused)), "{:?}", held.map(|_| ()));
    wait_for_writes(&engine).await;
    assert_eq!(get(&engine, b"large").await.expect("a read").as_deref(), Some(LARGE));
    put(&engine, b"large", b"after").await.expect("a write");
    assert_eq!(get(&engine, b"large").await.expect("a read").as_deref(), Some(&b"after"[..]));
}

#[tokio::test]
async fn opening_anew_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put(&engine, b"before", b"before").await.expect("a write");
    engine.shared.faults.plant(Step::Commit, 1);
    engine.shared.faults.plant(Step::Open, 2);
    assert!(put(&engine, b"k", b"failed").await.is_err());
    wait_for_writes(&engine).await;
    put(&engine, b"k", b"after").await.expect("a write");
}

#[tokio::test]
async fn reads_wait_while_the_folder_is_opened_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put(&engine, b"before", b"before").await.expect("a write");
    engine.shared.faults.plant(Step::Commit, 1);
    engine.shared.faults.plant(Step::Open, 1);
    assert!(put(&engine, b"k", b"failed").await.is_err());
    wait_for_closed_tables(&engine).await;
    assert_eq!(get(&engine, b"before").await.expect("a read").as_deref(), Some(&b"before"[..]));
}

/// While the folder does not open, a read ends before its deadline, so that its client may ask again.
#[tokio::test]
async fn reads_do_not_wait_for_a_folder_that_does_not_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put(&engine, b"before", b"before").await.expect("a write");
    engine.shared.faults.plant(Step::Commit, 1);
    engine.shared.faults.plant(Step::Open, usize::MAX);
    assert!(put(&engine, b"k", b"failed").await.is_err());
    wait_for_closed_tables(&engine).await;
    tokio::time::pause();
    let (start, read) = (Instant::now(), get(&engine, b"before").await);
    assert!(matches!(read, Err(EngineError::Reopening)), "{read:?}");
    assert!(start.elapsed() < far() - Instant::now(), "it waited for its deadline");
    let listed = engine.snapshot(Instant::now()).await;
    assert!(matches!(listed, Err(EngineError::TimedOut)), "{listed:?}");
}

async fn wait_for_closed_tables(engine: &Fjall) {
    while engine.shared.tables.load().is_some() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_engine_that_is_being_opened_anew_can_be_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    put(&engine, b"before", b"before").await.expect("a write");
    engine.shared.faults.plant(Step::Commit, 1);
    engine.shared.faults.plant(Step::Probe, usize::MAX);
    assert!(put(&engine, b"k", b"failed").await.is_err());
    drop(engine);
    let engine = open(&folder);
    assert_eq!(get(&engine, b"before").await.expect("a read").as_deref(), Some(&b"before"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_a_failed_batch_and_those_that_wait_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(open(&folder));
    put(&engine, b"before", b"before").await.expect("a write");
    engine.shared.faults.plant(Step::Commit, 1);
    let mut writes = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let engine = Arc::clone(&engine);
        writes.spawn(async move { put(&engine, b"k", b"v").await });
    }
    let mut unknown = 0;
    while let Some(written) = writes.join_next().await {
        match written.expect("no panic") {
            Err(EngineError::Unknown(_)) => unknown += 1,
            Err(EngineError::WritesRefused) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(unknown > 0);
    wait_for_writes(&engine).await;
}

#[tokio::test]
async fn a_cut_tail_is_reported_and_damage_before_it_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder);
    for key in [&b"before"[..], b"second", b"third"] {
        put(&engine, key, b"before").await.expect("a write");
    }
    drop(engine);
    let path = folder.path().join("fjall/0.jnl");
    let whole = std::fs::read(&path).expect("the journal");
    let at = |key: &[u8]| whole.windows(key.len()).position(|bytes| bytes == key).expect("a key");
    let damage = |key: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at(key)] ^= 1;
        std::fs::write(&path, bytes).expect("the journal");
    };
    damage(b"second");
    let error = Fjall::open(folder.path(), FjallOptions::default()).expect_err("damage");
    assert!(matches!(error, FjallOpenError::Damaged { .. }), "{error}");
    damage(b"third");
    let engine = open(&folder);
    let cut = engine.cut_tails();
    assert_eq!(cut.len(), 1);
    assert!(cut[0].kept().starts_with(folder.path().canonicalize().expect("a path").join("aside")));
    assert_eq!(get(&engine, b"third").await.expect("a read"), None);
    assert!(get(&engine, b"second").await.expect("a read").is_some());
    put(&engine, b"third", b"again").await.expect("a write");
    drop(engine);
    assert!(get(&open(&folder), b"third").await.expect("a read").is_some());
}

/// A thread of fjall that writes a file of a table fails, and fjall takes no batches any more.
#[tokio::test]
async fn a_failed_file_of_a_table_is_got_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FjallOptions { memtable_bytes: 8 * 1024, ..FjallOptions::default() };
    let engine = Fjall::open(folder.path(), options).expect("a new folder");
    put(&engine, b"before", b"before").await.expect("a write");
    let tables = folder.path().join("fjall/keyspaces/1/tables");
    let away = tables.with_file_name("away");
    std::fs::rename(&tables, &away).expect("the files of the objects");
    let mut written = 0u32;
    let failed = loop {
        match put(&engine, &written.to_be_bytes(), b"value").await {
            Ok(_) => written += 1,
            Err(failed) => break failed,
        }
        assert!(written < 100_000, "nothing fails");
    };
    std::fs::rename(&away, &tables).expect("the files of the objects");
    assert!(matches!(failed, EngineError::WritesRefused), "{failed:?}");
    wait_for_writes(&engine).await;
    for number in 0..written {
        let value = get(&engine, &number.to_be_bytes()).await.expect("a read");
        assert_eq!(value.as_deref(), Some(&b"value"[..]), "{number} of {written}");
    }
    put(&engine, b"after", b"after").await.expect("a write");
}
