//! The removal of objects that were deleted some time ago.
//!
//! One task reads the list of deleted objects that the engine keeps, so that what was deleted before a
//! restart is removed as well. It sleeps while there are none. Each removal looks at the object again: one
//! that was written meanwhile stays.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep};

use crate::engine::{
    Decide, Durability, Engine, EngineError, Mark, ObjectName, Page, Snapshot, Verdict, WriteTerms, now,
};
use crate::model::{Moment, Record};
use crate::store::Shared;

/// The objects that are read and removed together: enough to keep up with the writes of users, and a quarter
/// of the queue of writes.
const PAGE_ITEMS: usize = 1024;
/// The longest pause between two looks while there is something to remove; a shorter delay of removals is its
/// own pause.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The pause after reading, in multiples of the time that reading took, so that many deleted objects that are
/// kept for long are not read all the time.
const PAUSE_PARTS: u32 = 9;
/// The longest pause after reading.
const PAUSE_OF_READING_MAX: Duration = Duration::from_secs(60);
/// The shortest pause.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The objects with a time of deletion in the future that the reaper remembers; others follow them.
const AHEAD_MAX: usize = 10_000;
/// The time that a call of the engine may take.
const CALL_MAX: Duration = Duration::from_secs(30);

/// A handle that wakes the task.
#[derive(Debug, Default)]
pub(crate) struct Reaper(Arc<Notify>);

impl Reaper {
    /// Says that an object was deleted. Allocates nothing.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    /// Starts the task of a store, which ends with it.
    pub(crate) fn start<E: Engine>(store: &Arc<Shared<E>>, after: Duration) {
        let (store, woken) = (Arc::downgrade(store), Arc::clone(&store.reaper.0));
        tokio::spawn(run(store, woken, after));
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn run<E: Engine>(store: Weak<Shared<E>>, woken: Arc<Notify>, after: Duration) {
    let mut ahead = Ahead::default();
    loop {
        let Some(shared) = store.upgrade() else { return };
        // A removal that fails now is tried again at the next look.
        let looked = look(&shared.engine, after, &mut ahead).await;
        // No handle is held over a pause: the store ends with the last one.
        drop(shared);
        let Looked { is_left, reading } = looked.unwrap_or(Looked { is_left: true, reading: Duration::ZERO });
        let of_reading = (reading * PAUSE_PARTS).min(PAUSE_OF_READING_MAX);
        match is_left {
            true => sleep(after.clamp(PAUSE_MIN, PAUSE_MAX).max(of_reading)).await,
            false => woken.notified().await,
        }
    }
}

/// The outcome of a look.
struct Looked {
    /// Some of the objects stay.
    is_left: bool,
    /// The time in which they were read, without that of the removals.
    reading: Duration,
}

/// Removes the objects whose time has come.
async fn look<E: Engine>(engine: &E, after: Duration, ahead: &mut Ahead) -> Result<Looked, EngineError> {
    let mut reading = Duration::ZERO;
    let (mut seen, terms) = (HashMap::new(), terms());
    let snapshot = engine.snapshot(Instant::now() + CALL_MAX).await?;
    let (mut page, mut last, mut is_left) = (Page::new(PAGE_ITEMS), None::<Vec<u8>>, false);
    loop {
        let start = Instant::now();
        snapshot.deleted(last.as_deref(), &mut page, Instant::now() + CALL_MAX).await?;
        let mut due = Vec::new();
        for item in page.items() {
            let Some(name) = ObjectName::read(item.key) else { continue };
            let mut reap = Reap { after, waited: ahead.of(item.key), ahead: None, is_left: false };
            // Objects whose time has not come cost a read and no place in the queue of writes.
            let is_due = match snapshot.get(name, Instant::now() + CALL_MAX).await {
                Ok(record) => reap.is_due(record.as_ref().map(AsRef::as_ref)),
                // One that cannot be read keeps no other.
                Err(_) => {
                    reap.is_left = true;
                    false
                }
            };
            is_left |= reap.is_left;
            if let Some(modified) = reap.ahead.filter(|_| reap.is_left && seen.len() < AHEAD_MAX) {
                seen.insert(item.key.to_vec(), (modified, ahead.since(item.key, modified)));
            }
            if is_due {
                due.push((name, reap));
            }
        }
        reading += start.elapsed();
        let removals = due.into_iter().map(|(name, reap)| engine.write(name, reap, &terms));
        for removed in all(removals).await {
            is_left |= removed.map_or(true, |removed| removed.decide.is_left);
        }
        last = page.items().next_back().map(|item| item.key.to_vec());
        if page.is_last() || last.is_none() {
            ahead.0 = seen;
            return Ok(Looked { is_left, reading });
        }
    }
}

/// Waits for all futures. Each is begun before any of them is waited for, so that one batch takes many
/// writes and a store under load removes as fast as its users delete.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut begun: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    // tokio would have all but 128 of them wait for their turn, one after the other.
    unconstrained(poll_fn(|context| {
        for (future, done) in &mut begun {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        Poll::Ready(())
    }))
    .await;
    let mut outputs = Vec::with_capacity(begun.len());
    for (future, done) in begun {
        outputs.push(match done {
            Some(output) => output,
            None => future.await,
        });
    }
    outputs
}

/// Objects whose time of deletion is in the future, as a clock that was ahead leaves them: their time is
/// counted from when they were first seen.
#[derive(Default)]
struct Ahead(HashMap<Vec<u8>, (Moment, Instant)>);

impl Ahead {
    fn of(&self, name: &[u8]) -> Option<(Moment, Duration)> {
        self.0.get(name).map(|(modified, since)| (*modified, since.elapsed()))
    }

    fn since(&self, name: &[u8], modified: Moment) -> Instant {
        let seen = self.0.get(name).filter(|(read, _)| *read == modified);
        seen.map_or_else(Instant::now, |(_, since)| *since)
    }
}

/// Returns the terms of a removal, which answers nobody and need not be flushed.
fn terms() -> WriteTerms {
    let (durability, deadline) = (Durability::Buffered, Instant::now() + CALL_MAX);
    WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline }
}

/// The removal of an object that still reads as deleted, once its time has come.
struct Reap {
    after: Duration,
    /// The time of deletion that an earlier pass read, if it is in the future, and the time that has passed
    /// since.
    waited: Option<(Moment, Duration)>,
    /// The time of deletion that this pass read, if it is in the future.
    ahead: Option<Moment>,
    is_left: bool,
}

impl Reap {
    /// Decides whether the record is removed, and notes its time of deletion.
    fn judge(&mut self, record: Record<'_>, now: Moment) -> bool {
        let modified = record.modified();
        let age = match now.micros().checked_sub(modified.micros()) {
            Some(micros) => Duration::from_micros(micros),
            None => {
                self.ahead = Some(modified);
                let waited = self.waited.filter(|(read, _)| *read == modified);
                waited.map_or(Duration::ZERO, |(_, waited)| waited)
            }
        };
        self.is_left = age < self.after;
        !self.is_left
    }

    /// Returns true if the stored record is to be removed now.
    fn is_due(&mut self, stored: Option<&[u8]>) -> bool {
        // A damaged one stays, for its operator.
        let Ok(record) = stored.map(Record::read).transpose() else {
            self.is_left = true;
            return false;
        };
        record.filter(Record::is_deleted).is_some_and(|record| self.judge(record, now()))
    }
}

impl Decide for Reap {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, _: &mut Vec<u8>) -> Verdict {
        let record = stored.filter(Record::is_deleted);
        if record.is_some_and(|record| self.judge(record, mark.now)) {
            Verdict::Remove
        } else {
            Verdict::Keep
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use tokio::sync::Semaphore;

    use super::*;
    use crate::engine::{BucketName, Memory, ReadTerms, Setting, Written};
    use crate::model::{Context, NewContent, Rules, write};
    use crate::{Config, Store};

    const RULES: Rules =
        Rules { allow_mult: false, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
    const NAME: ObjectName<'static> = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"k");

    /// Writes a mark of deletion with the time of a machine whose clock is years ahead.
    struct DeletedAhead;

    impl Decide for DeletedAhead {
        fn decide(&mut self, _: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
            let Mark { dot, vtag, now } = mark;
            let now = Moment::from_micros(now.micros() + 1_000_000 * 3600 * 24 * 3650);
            let new = NewContent { dot, vtag, now, is_deleted: true, attributes: b"", value: b"" };
            write(None, Context::EMPTY, &new, &RULES, out).expect("a short record");
            Verdict::Write
        }
    }

    async fn is_there(store: &Store<Memory>) -> bool {
        let deadline = Instant::now() + CALL_MAX;
        let terms = ReadTerms {
            n: 1,
            r: 1,
            pr: 0,
            node_confirms: 0,
            notfound_ok: true,
            basic_quorum: false,
            deadline,
        };
        store.engine().get(NAME, &terms).await.expect("a read").is_some()
    }

    /// An engine whose writes take a while, and are counted.
    struct Slow(Memory, AtomicUsize, Semaphore);

    /// The time that a write takes.
    const WRITE: Duration = Duration::from_millis(10);

    impl Engine for Slow {
        type Bytes = <Memory as Engine>::Bytes;
        type Snapshot = <Memory as Engine>::Snapshot;

        async fn get(
            &self,
            name: ObjectName<'_>,
            terms: &ReadTerms,
        ) -> Result<Option<Self::Bytes>, EngineError> {
            self.0.get(name, terms).await
        }

        async fn write<D: Decide>(
            &self,
            name: ObjectName<'_>,
            decide: D,
            terms: &WriteTerms,
        ) -> Result<Written<D, Self::Bytes>, EngineError> {
            self.1.fetch_add(1, Relaxed);
            // Places in a queue are what tokio gives a task only so many of in one turn.
            let _place = self.2.acquire().await.expect("an open queue");
            sleep(WRITE).await;
            self.0.write(name, decide, terms).await
        }

        async fn snapshot(&self, deadline: Instant) -> Result<Self::Snapshot, EngineError> {
            self.0.snapshot(deadline).await
        }

        async fn settings(&self, deadline: Instant) -> Result<Vec<Setting>, EngineError> {
            self.0.settings(deadline).await
        }

        async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
            self.0.set(name, value, deadline).await
        }

        fn takes_writes(&self) -> bool {
            self.0.takes_writes()
        }

        fn label(&self) -> &'static str {
            self.0.label()
        }
    }

    /// Writes a mark of deletion.
    struct Deleted;

    impl Decide for Deleted {
        fn decide(&mut self, _: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
            let Mark { dot, vtag, now } = mark;
            let new = NewContent { dot, vtag, now, is_deleted: true, attributes: b"", value: b"" };
            write(None, Context::EMPTY, &new, &RULES, out).expect("a short record");
            Verdict::Write
        }
    }

    /// The deleted objects of a test: several pages of them.
    const DELETED: usize = 4 * PAGE_ITEMS;

    async fn with_deleted() -> Slow {
        let engine = Memory::new();
        for number in 0..DELETED {
            let key = number.to_be_bytes();
            engine.write(NAME.bucket.object(&key), Deleted, &terms()).await.expect("a write");
        }
        Slow(engine, AtomicUsize::new(0), Semaphore::new(DELETED))
    }

    async fn look_at(engine: &Slow, after: Duration) -> bool {
        look(engine, after, &mut Ahead::default()).await.expect("a look").is_left
    }

    #[tokio::test(start_paused = true)]
    async fn removals_of_a_page_wait_together() {
        let engine = with_deleted().await;
        let start = Instant::now();
        assert!(!look_at(&engine, Duration::ZERO).await, "some are left");
        assert_eq!(start.elapsed().as_millis() / WRITE.as_millis(), (DELETED / PAGE_ITEMS) as u128);
        assert_eq!(engine.1.load(Relaxed), DELETED);
        let mut page = Page::new(1);
        let snapshot = engine.snapshot(Instant::now() + CALL_MAX).await.expect("a snapshot");
        snapshot.deleted(None, &mut page, Instant::now() + CALL_MAX).await.expect("a page");
        assert_eq!(page.items().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_for_a_while_takes_no_place_among_the_writes() {
        let engine = with_deleted().await;
        assert!(look_at(&engine, Duration::from_secs(3600)).await, "none is left");
        assert_eq!(engine.1.load(Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_clock_that_was_ahead_left_is_removed_in_time() {
        let engine = Memory::new();
        engine.write(NAME, DeletedAhead, &terms()).await.expect("a write");
        let config = Config { reap_after: Some(Duration::from_secs(3)), ..Config::default() };
        let store = Store::open(engine, config).await.expect("a store");
        sleep(Duration::from_secs(2)).await;
        assert!(is_there(&store).await, "it was seen two seconds ago");
        sleep(Duration::from_secs(3)).await;
        assert!(!is_there(&store).await, "it stays");
    }
}
