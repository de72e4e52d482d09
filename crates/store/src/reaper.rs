//! The removal of objects that were deleted some time ago.
//!
//! One task reads the list of deleted objects that the engine keeps, so that what was deleted before a
//! restart is removed as well. It sleeps while there are none. Each removal looks at the object again: one
//! that was written meanwhile stays.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::engine::{
    Decide, Durability, Engine, EngineError, Mark, ObjectName, Page, Snapshot, Verdict, WriteTerms,
};
use crate::model::{Moment, Record};
use crate::store::Shared;

/// The objects that are looked at together.
const PAGE_ITEMS: usize = 256;
/// The longest pause between two looks while there is something to remove; a shorter delay of removals is its
/// own pause.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The shortest one.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The objects that were deleted at a moment to come of which the reaper knows since when; others follow
/// them.
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
        // What fails now is there at the next look.
        let left = look(&shared.engine, after, &mut ahead).await.unwrap_or(true);
        drop(shared);
        match left {
            true => sleep(after.clamp(PAUSE_MIN, PAUSE_MAX)).await,
            false => woken.notified().await,
        }
    }
}

/// Removes what is due, and returns true if something is left.
async fn look<E: Engine>(engine: &E, after: Duration, ahead: &mut Ahead) -> Result<bool, EngineError> {
    let mut seen = HashMap::new();
    let snapshot = engine.snapshot(Instant::now() + CALL_MAX).await?;
    let (mut page, mut last, mut is_left) = (Page::new(PAGE_ITEMS), None::<Vec<u8>>, false);
    loop {
        snapshot.deleted(last.as_deref(), &mut page, Instant::now() + CALL_MAX).await?;
        for item in page.items() {
            let Some(name) = ObjectName::read(item.key) else { continue };
            let reap = Reap { after, waited: ahead.of(item.key), ahead: None, is_left: false };
            let decide = engine.write(name, reap, &terms()).await?.decide;
            is_left |= decide.is_left;
            if let Some(modified) = decide.ahead.filter(|_| decide.is_left && seen.len() < AHEAD_MAX) {
                seen.insert(item.key.to_vec(), (modified, ahead.since(item.key, modified)));
            }
        }
        last = page.items().next_back().map(|item| item.key.to_vec());
        if page.is_last() || last.is_none() {
            ahead.0 = seen;
            return Ok(is_left);
        }
    }
}

/// Objects that were deleted at a moment that is still to come, as a clock that was ahead leaves them: their
/// time is counted from when they were first seen.
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

/// A removal is nobody's answer: it need not be flushed.
fn terms() -> WriteTerms {
    let (durability, deadline) = (Durability::Buffered, Instant::now() + CALL_MAX);
    WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline }
}

/// The removal of an object that still reads as deleted, once its time has come.
struct Reap {
    after: Duration,
    /// The moment at which the object was deleted as an earlier look has read it, if that is still to come,
    /// and the time since.
    waited: Option<(Moment, Duration)>,
    /// The same moment as this look has read it.
    ahead: Option<Moment>,
    is_left: bool,
}

impl Decide for Reap {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, _: &mut Vec<u8>) -> Verdict {
        let Some(record) = stored.filter(Record::is_deleted) else { return Verdict::Keep };
        let modified = record.modified();
        let age = match mark.now.micros().checked_sub(modified.micros()) {
            Some(micros) => Duration::from_micros(micros),
            None => {
                self.ahead = Some(modified);
                let waited = self.waited.filter(|(read, _)| *read == modified);
                waited.map_or(Duration::ZERO, |(_, waited)| waited)
            }
        };
        self.is_left = age < self.after;
        if self.is_left { Verdict::Keep } else { Verdict::Remove }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BucketName, Memory, ReadTerms};
    use crate::model::{Context, NewContent, Rules, write};
    use crate::{Config, Store};

    const RULES: Rules =
        Rules { allow_mult: false, last_write_wins: false, siblings_max: 100, octets_max: 1 << 20 };
    const NAME: ObjectName<'static> = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"k");

    /// Leaves that the object was deleted, as a machine does whose clock is years ahead.
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
