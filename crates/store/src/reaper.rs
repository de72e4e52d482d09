//! The removal of objects that were deleted some time ago.
//!
//! One task reads the list of deleted objects that the engine keeps, so that what was deleted before a restart is removed as well. It
//! sleeps while there are none. Each removal looks at the object again: one that was written meanwhile stays.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::engine::{
    Decide, Durability, Engine, EngineError, Mark, ObjectName, Page, Snapshot, Verdict, WriteTerms,
};
use crate::model::Record;
use crate::store::Shared;

/// The objects that are looked at together.
const PAGE_ITEMS: usize = 256;
/// The longest pause between two looks while there is something to remove; a shorter delay of removals is its own pause.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The shortest one.
const PAUSE_MIN: Duration = Duration::from_millis(10);
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
    loop {
        let Some(shared) = store.upgrade() else { return };
        // What fails now is there at the next look.
        let left = look(&shared.engine, after).await.unwrap_or(true);
        drop(shared);
        match left {
            true => sleep(after.clamp(PAUSE_MIN, PAUSE_MAX)).await,
            false => woken.notified().await,
        }
    }
}

/// Removes what is due, and returns true if something is left.
async fn look<E: Engine>(engine: &E, after: Duration) -> Result<bool, EngineError> {
    let snapshot = engine.snapshot(Instant::now() + CALL_MAX).await?;
    let (mut page, mut last, mut is_left) = (Page::new(PAGE_ITEMS), None::<Vec<u8>>, false);
    loop {
        snapshot.deleted(last.as_deref(), &mut page, Instant::now() + CALL_MAX).await?;
        for item in page.items() {
            let Some(name) = ObjectName::read(item.key) else { continue };
            let written = engine.write(name, Reap { after, is_left: false }, &terms()).await?;
            is_left |= written.decide.is_left;
        }
        last = page.items().next_back().map(|item| item.key.to_vec());
        if page.is_last() || last.is_none() {
            return Ok(is_left);
        }
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
    is_left: bool,
}

impl Decide for Reap {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, _: &mut Vec<u8>) -> Verdict {
        let Some(record) = stored.filter(Record::is_deleted) else { return Verdict::Keep };
        let age = mark.now.micros().saturating_sub(record.modified().micros());
        self.is_left = u128::from(age) < self.after.as_micros();
        if self.is_left { Verdict::Keep } else { Verdict::Remove }
    }
}
