//! Writes to the engine on disk: their bounds, their outcomes, and what a folder refuses.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::support::fjall::{BUCKET, Put, Removal, far, get, put, write_terms};
use alula_store::engine::{
    Decide, Durability, Engine, EngineError, Fjall, FjallOpenError, FjallOptions, Mark, Verdict, WriteTerms,
};
use alula_store::model::Record;
use tokio::time::Instant;

/// A write that says that it is begun, and then waits until it may go on.
struct Held {
    put: Put,
    begun: Sender<()>,
    go_on: Receiver<()>,
}

impl Held {
    fn new() -> (Self, Receiver<()>, Sender<()>) {
        let ((begun, is_begun), (go, go_on)) = (channel(), channel());
        (Self { put: Put::value("held"), begun, go_on }, is_begun, go)
    }
}

impl Decide for Held {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        self.begun.send(()).expect("a test that waits");
        self.go_on.recv().expect("a test that goes on");
        self.put.decide(stored, mark, out)
    }
}

struct Panics;

impl Decide for Panics {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, out: &mut Vec<u8>) -> Verdict {
        out.extend_from_slice(b"half of a record");
        panic!("planted by a test");
    }
}

fn open(folder: &tempfile::TempDir, options: FjallOptions) -> Arc<Fjall> {
    Arc::new(Fjall::open(folder.path(), options).expect("a folder that opens"))
}

/// Begins a write that holds the engine until the test lets it go on.
fn hold(engine: &Arc<Fjall>) -> (tokio::task::JoinHandle<Result<(), EngineError>>, Sender<()>) {
    let (held, begun, go) = Held::new();
    let engine = Arc::clone(engine);
    let write = tokio::spawn(async move {
        let terms = write_terms(Durability::Flushed);
        engine.write(BUCKET.object(b"held"), held, &terms).await.map(drop)
    });
    begun.recv_timeout(Duration::from_secs(10)).expect("the write begins");
    (write, go)
}

/// Asks a future once.
fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn a_folder_opens_once_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let error = Fjall::open(folder.path(), FjallOptions::default()).expect_err("it is open already");
    assert!(matches!(error, FjallOpenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("another store has this folder open"), "{error}");
    put(&*engine, b"k", Put::value("v")).await.expect("the first one goes on");
    drop(engine);
    open(&folder, FjallOptions::default());
}

#[tokio::test]
async fn a_newer_format_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(&folder, FjallOptions::default()));
    fs::write(folder.path().join("format"), "alula-store 7\n").expect("a format");
    let error = Fjall::open(folder.path(), FjallOptions::default()).expect_err("a newer format");
    let text = error.to_string();
    let name = folder.path().file_name().expect("a name").to_string_lossy().into_owned();
    assert!(text.contains(&name) && text.contains("version 7") && text.contains("version 1"), "{text}");
}

#[tokio::test]
async fn each_opening_has_a_new_actor_and_keeps_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut actors = Vec::new();
    for number in 0..3 {
        let engine = open(&folder, FjallOptions::default());
        for before in 0..number {
            let name = BUCKET.object(std::slice::from_ref(&before));
            assert_eq!(get(&*engine, name).await, Some(vec![(false, vec![], vec![before])]));
        }
        let settings = engine.settings(far()).await.expect("settings");
        assert_eq!(settings.len(), usize::from(number));
        engine.set(&[number], Some(b"value"), far()).await.expect("a setting");
        let terms = write_terms(Durability::Buffered);
        let key = [number];
        let write = engine.write(BUCKET.object(&key), Put::value([number]), &terms);
        let record = write.await.expect("a write").record.expect("a record");
        let record = Record::read(&record).expect("a record");
        actors.push(record.single().expect("one content").dot().actor());
    }
    assert!(actors[0] != actors[1] && actors[1] != actors[2] && actors[0] != actors[2]);
}

#[tokio::test]
async fn settings_come_back_in_order_and_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let long = vec![b'l'; 70_000];
    for name in [&b"b"[..], b"", &long, b"a"] {
        engine.set(name, Some(name), far()).await.expect("a setting");
    }
    engine.set(b"b", None, far()).await.expect("a removal");
    let expected: Vec<_> = [&b""[..], b"a", &long].map(|name| (name.to_vec(), name.to_vec())).into();
    assert!(engine.settings(far()).await.expect("settings") == expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_busy_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = FjallOptions::default();
    options.writes_waiting_max = 2;
    let engine = open(&folder, options);
    let (held, go) = hold(&engine);
    let waiting = put(&*engine, b"waits", Put::value("v"));
    let mut waiting = pin!(waiting);
    assert!(poll_once(waiting.as_mut()).is_pending());
    let third = put(&*engine, b"third", Put::value("v")).await;
    assert!(matches!(third, Err(EngineError::Busy)), "{third:?}");
    go.send(()).expect("the write goes on");
    held.await.expect("no panic").expect("a write");
    waiting.await.expect("the second write had room");
    put(&*engine, b"third", Put::value("v")).await.expect("room again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_waits_for_room_for_its_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = FjallOptions::default();
    options.bytes_waiting_max = 1000;
    let engine = open(&folder, options);
    put(&*engine, b"alone", Put::value(vec![1; 5000])).await.expect("alone it may be longer");
    let (held, go) = hold(&engine);
    let deadline = Instant::now() + Duration::from_millis(20);
    let terms = WriteTerms { deadline, ..write_terms(Durability::Flushed) };
    let late = engine.write(BUCKET.object(b"late"), Put::value(vec![1; 1000]), &terms).await;
    assert!(matches!(late, Err(EngineError::TimedOut)), "{late:?}");
    let waiting = put(&*engine, b"over", Put::value(vec![1; 1000]));
    let mut waiting = pin!(waiting);
    assert!(poll_once(waiting.as_mut()).is_pending());
    go.send(()).expect("the write goes on");
    held.await.expect("no panic").expect("a write");
    waiting.await.expect("the write had room in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_time_passes_before_it_is_begun_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let (held, go) = hold(&engine);
    let deadline = Instant::now() + Duration::from_millis(20);
    let terms = WriteTerms { deadline, ..write_terms(Durability::Flushed) };
    let late = engine.write(BUCKET.object(b"late"), Put::value("v"), &terms).await;
    assert!(matches!(late, Err(EngineError::TimedOut)), "{late:?}");
    go.send(()).expect("the write goes on");
    held.await.expect("no panic").expect("a write that was begun");
    put(&*engine, b"after", Put::value("v")).await.expect("a write");
    assert_eq!(get(&*engine, BUCKET.object(b"late")).await, None);
    assert!(get(&*engine, BUCKET.object(b"held")).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_nobody_waits_for_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let (held, go) = hold(&engine);
    {
        let write = put(&*engine, b"dropped", Put::value("v"));
        assert!(poll_once(pin!(write)).is_pending(), "it is queued");
    }
    held.abort();
    assert!(held.await.is_err(), "nobody waits for this one either");
    go.send(()).expect("the write goes on");
    put(&*engine, b"after", Put::value("v")).await.expect("a write");
    assert!(get(&*engine, BUCKET.object(b"dropped")).await.is_some());
    assert!(get(&*engine, BUCKET.object(b"held")).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_are_queued_are_written_before_the_engine_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let (held, go) = hold(&engine);
    {
        let write = put(&*engine, b"queued", Put::value("v"));
        assert!(poll_once(pin!(write)).is_pending());
    }
    held.abort();
    assert!(held.await.is_err());
    go.send(()).expect("the write goes on");
    drop(engine);
    let engine = open(&folder, FjallOptions::default());
    assert!(get(&*engine, BUCKET.object(b"queued")).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_the_callers_and_the_engine_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    put(&*engine, b"k", Put::value("before")).await.expect("a write");
    let panics = Arc::clone(&engine);
    let write = tokio::spawn(async move {
        panics.write(BUCKET.object(b"k"), Panics, &write_terms(Durability::Flushed)).await.map(drop)
    });
    assert!(write.await.expect_err("the panic").is_panic());
    assert!(engine.takes_writes());
    assert_eq!(get(&*engine, BUCKET.object(b"k")).await, Some(vec![(false, vec![], b"before".to_vec())]));
    put(&*engine, b"k", Put::value("after")).await.expect("a write");
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_one_batch_see_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default());
    let (held, go) = hold(&engine);
    let mut writes = Vec::new();
    for number in 0..200u8 {
        let is_sibling = number < 100;
        let key = if is_sibling { &b"siblings"[..] } else { b"last" };
        let write = Put { is_sibling, ..Put::value([number]).entry(b"n_bin", &[number]) };
        let mut write = Box::pin(put(&*engine, key, write));
        assert!(poll_once(write.as_mut()).is_pending(), "it is queued");
        writes.push(write);
    }
    go.send(()).expect("the write goes on");
    held.await.expect("no panic").expect("a write");
    for write in writes {
        write.await.expect("a write");
    }
    let siblings = get(&*engine, BUCKET.object(b"siblings")).await.expect("an object");
    assert_eq!(siblings.len(), 100);
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    crate::support::fjall::check_entries(&snapshot, BUCKET, b"n_bin").await;
    let terms = write_terms(Durability::Flushed);
    engine.write(BUCKET.object(b"siblings"), Removal, &terms).await.expect("a removal");
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let left = crate::support::fjall::entries(&snapshot, BUCKET, b"n_bin", (b"", &[255; 9]), 10).await;
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn a_large_value_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let value: Vec<u8> = (0..5_000_000u32).map(|number| (number >> 5) as u8).collect();
    let engine = open(&folder, FjallOptions::default());
    put(&*engine, b"large", Put::value(value.clone())).await.expect("a write");
    drop(engine);
    let engine = open(&folder, FjallOptions::default());
    let bytes =
        engine.get(BUCKET.object(b"large"), &crate::support::fjall::read_terms()).await.expect("a read");
    let bytes = bytes.expect("the object");
    let content = Record::read(&bytes).expect("a record").single().expect("one content");
    assert!(content.value() == value);
    assert!(bytes.ends_with(&value), "the value is the end of the record");
}
