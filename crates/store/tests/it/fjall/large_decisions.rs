//! Changes of large records are decided beside the thread that writes: others pass them, and those of one
//! object follow each other.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::support::fjall::{BUCKET, Put, get, put, write_terms};
use alula_store::engine::{
    Decide, Durability, Engine, EngineError, Fjall, FjallOptions, Mark, Memory, Verdict, WriteTerms,
};
use alula_store::model::Record;
use tokio::time::timeout;

const LARGE: usize = 1024 * 1024;
/// The time after which something that cannot happen has not happened, on a machine with much to do.
const NEVER: Duration = Duration::from_secs(60);

type Order = Arc<Mutex<Vec<usize>>>;

/// Appends a byte to what is stored, and notes its number in the order of decisions.
struct Append {
    number: usize,
    order: Order,
    gate: Option<(Sender<()>, Receiver<()>)>,
}

impl Append {
    fn new(number: usize, order: &Order) -> Self {
        Self { number, order: Arc::clone(order), gate: None }
    }

    /// One that says that it is begun, and waits until it may go on.
    fn held(number: usize, order: &Order) -> (Self, Receiver<()>, Sender<()>) {
        let ((begun, is_begun), (go, go_on)) = (channel(), channel());
        (Self { gate: Some((begun, go_on)), ..Self::new(number, order) }, is_begun, go)
    }
}

impl Decide for Append {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        if let Some((begun, go_on)) = &self.gate {
            begun.send(()).expect("a test that waits");
            go_on.recv().expect("a test that goes on");
        }
        self.order.lock().expect("no panic").push(self.number);
        let content = stored.and_then(|record| record.single());
        let mut value = content.map_or_else(Vec::new, |content| content.value().to_vec());
        value.push(self.number as u8);
        Put::value(value).decide(stored, mark, out)
    }
}

struct Panics;

impl Decide for Panics {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        panic!("planted by a test");
    }
}

async fn open(folder: &tempfile::TempDir, options: FjallOptions) -> Arc<Fjall> {
    let engine = Arc::new(Fjall::open(folder.path(), options).expect("a folder that opens"));
    put(&*engine, b"large", Put::value(vec![0; LARGE])).await.expect("a write");
    engine
}

async fn append<E: Engine>(engine: &E, key: &[u8], append: Append) -> Result<(), EngineError> {
    engine.write(BUCKET.object(key), append, &write_terms(Durability::Flushed)).await.map(drop)
}

/// Asks a future once.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn value<E: Engine>(engine: &E, key: &[u8]) -> Vec<u8> {
    let mut contents = get(engine, BUCKET.object(key)).await.expect("an object");
    assert_eq!(contents.len(), 1);
    contents.remove(0).2
}

/// While one change of a large object is decided and many wait for it, writes of others go on.
#[tokio::test]
async fn writes_pass_the_decisions_on_a_large_object() {
    const CHANGES: usize = 40;
    const OTHERS: usize = 100;
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default()).await;
    let order = Order::default();
    let (first, begun, go) = Append::held(0, &order);
    let mut changes = vec![Box::pin(append(&*engine, b"large", first))];
    assert!(poll_once(changes[0].as_mut()).is_pending(), "it is queued");
    begun.recv_timeout(NEVER).expect("it is begun");
    for number in 1..CHANGES {
        let mut change = Box::pin(append(&*engine, b"large", Append::new(number, &order)));
        assert!(poll_once(change.as_mut()).is_pending(), "it is queued");
        changes.push(change);
    }
    for number in 0..OTHERS {
        let other = append(&*engine, b"small", Append::new(1_000 + number, &order));
        timeout(NEVER, other).await.expect("it passes the large ones").expect("a write");
    }
    assert_eq!(order.lock().expect("no panic").len(), OTHERS, "none of the large ones is decided yet");
    assert_eq!(value(&*engine, b"large").await.len(), LARGE, "reads go on");
    go.send(()).expect("it goes on");
    for change in changes {
        change.await.expect("a write");
    }
    let decided = order.lock().expect("no panic").split_off(OTHERS);
    assert_eq!(decided, (0..CHANGES).collect::<Vec<_>>(), "each once, in the order in which they came");
    let appended = value(&*engine, b"large").await.split_off(LARGE);
    assert_eq!(appended, (0..CHANGES as u8).collect::<Vec<_>>(), "nothing is lost");
}

/// A write of a few bytes to the object waits as well, whatever it is: writes of one object keep their
/// order.
#[tokio::test]
async fn writes_of_one_object_keep_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default()).await;
    let order = Order::default();
    let (first, begun, go) = Append::held(1, &order);
    let mut first = pin!(append(&*engine, b"large", first));
    assert!(poll_once(first.as_mut()).is_pending(), "it is queued");
    begun.recv_timeout(NEVER).expect("it is begun");
    let mut replaced = pin!(put(&*engine, b"large", Put::value("small")));
    let mut last = pin!(append(&*engine, b"large", Append::new(b'!'.into(), &order)));
    assert!(poll_once(replaced.as_mut()).is_pending() && poll_once(last.as_mut()).is_pending());
    put(&*engine, b"other", Put::value("v")).await.expect("a write that passes them");
    assert!(poll_once(replaced.as_mut()).is_pending(), "it waits for the one before it");
    go.send(()).expect("it goes on");
    first.await.expect("a write");
    replaced.await.expect("a write");
    last.await.expect("a write");
    assert_eq!(value(&*engine, b"large").await, b"small!");
}

/// Objects have their decisions beside each other, and none is lost when the engine is dropped with all under
/// way.
#[tokio::test]
async fn writes_that_were_begun_or_wait_end_with_the_engine() {
    const OBJECTS: usize = 5;
    const CHANGES: usize = 8;
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default()).await;
    let order = Order::default();
    for object in 0..OBJECTS {
        put(&*engine, &[object as u8], Put::value(vec![0; LARGE])).await.expect("a write");
    }
    for number in 0..CHANGES {
        for object in 0..OBJECTS {
            let key = [object as u8];
            let mut change = Box::pin(append(&*engine, &key, Append::new(number, &order)));
            assert!(poll_once(change.as_mut()).is_pending(), "it is queued, and its caller goes away");
        }
    }
    drop(engine);
    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("a folder that opens");
    for object in 0..OBJECTS {
        let appended = value(&engine, &[object as u8]).await.split_off(LARGE);
        assert_eq!(appended, (0..CHANGES as u8).collect::<Vec<_>>(), "{object}");
    }
}

/// The writes of one object take a part of the queue, and others find room in the rest.
#[tokio::test]
async fn the_writes_that_wait_for_one_object_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = FjallOptions::default();
    options.writes_waiting_max = 64;
    let engine = open(&folder, options).await;
    let order = Order::default();
    let (first, begun, go) = Append::held(0, &order);
    let mut first = pin!(append(&*engine, b"large", first));
    assert!(poll_once(first.as_mut()).is_pending(), "it is queued");
    begun.recv_timeout(NEVER).expect("it is begun");
    let (mut waiting, mut busy) = (Vec::new(), 0);
    for number in 1..40 {
        let mut change = Box::pin(append(&*engine, b"large", Append::new(number, &order)));
        let mut answer = poll_once(change.as_mut());
        if answer.is_pending() {
            // The thread that writes has seen it when it has answered one behind it.
            put(&*engine, b"small", Put::value("v")).await.expect("others find room");
            answer = poll_once(change.as_mut());
        }
        match answer {
            Poll::Pending => waiting.push(change),
            Poll::Ready(answer) => {
                assert!(matches!(answer, Err(EngineError::Busy)), "{answer:?}");
                busy += 1;
            }
        }
    }
    assert!(!waiting.is_empty() && busy > 0, "{} wait, {busy} are refused", waiting.len());
    go.send(()).expect("it goes on");
    first.await.expect("a write");
    let taken = waiting.len();
    for change in waiting {
        change.await.expect("a write");
    }
    assert_eq!(value(&*engine, b"large").await.len(), LARGE + 1 + taken);
    let again = Append::new(0, &order);
    append(&*engine, b"large", again).await.expect("there is room again");
}

/// A write whose time passes while it waits for others of its object is not made.
#[tokio::test]
async fn a_write_that_waits_too_long_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default()).await;
    let order = Order::default();
    let (first, begun, go) = Append::held(1, &order);
    let mut first = pin!(append(&*engine, b"large", first));
    assert!(poll_once(first.as_mut()).is_pending(), "it is queued");
    begun.recv_timeout(NEVER).expect("it is begun");
    let deadline = tokio::time::Instant::now() + Duration::from_millis(20);
    let terms = WriteTerms { deadline, ..write_terms(Durability::Flushed) };
    let late = engine.write(BUCKET.object(b"large"), Append::new(2, &order), &terms).await.map(drop);
    assert!(matches!(late, Err(EngineError::TimedOut)), "{late:?}");
    go.send(()).expect("it goes on");
    first.await.expect("a write");
    append(&*engine, b"large", Append::new(3, &order)).await.expect("a write");
    assert_eq!(value(&*engine, b"large").await.split_off(LARGE), [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_of_a_large_decision_is_its_callers() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(&folder, FjallOptions::default()).await;
    let panics = Arc::clone(&engine);
    let write = tokio::spawn(async move {
        panics.write(BUCKET.object(b"large"), Panics, &write_terms(Durability::Flushed)).await.map(drop)
    });
    assert!(write.await.expect_err("the panic").is_panic());
    append(&*engine, b"large", Append::new(7, &Order::default())).await.expect("the next one goes on");
    assert_eq!(value(&*engine, b"large").await.split_off(LARGE), [7]);
}

/// The engine in memory decides outside its lock, and again where another write came between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_pass_a_large_decision_in_memory() {
    let engine = Arc::new(Memory::new());
    put(&*engine, b"large", Put::value(vec![0; LARGE])).await.expect("a write");
    let order = Order::default();
    let (held, begun, go) = Append::held(1, &order);
    let held = tokio::spawn({
        let engine = Arc::clone(&engine);
        async move { append(&*engine, b"large", held).await }
    });
    begun.recv_timeout(NEVER).expect("it is begun");
    let others = tokio::spawn({
        let (engine, order) = (Arc::clone(&engine), Arc::clone(&order));
        async move {
            append(&*engine, b"small", Append::new(2, &order)).await.expect("a write");
            append(&*engine, b"large", Append::new(3, &order)).await.expect("a write");
        }
    });
    timeout(NEVER, others).await.expect("they pass it").expect("no panic");
    // The object has changed: it is decided once more.
    go.send(()).and_then(|()| go.send(())).expect("it goes on");
    held.await.expect("no panic").expect("a write");
    assert_eq!(order.lock().expect("no panic")[..], [2, 3, 1, 1]);
    assert_eq!(value(&*engine, b"large").await.split_off(LARGE), [3, 1]);
}
