//! Opening the engine anew after a write failed.
//!
//! fjall takes no batch after a failed one, and its folder opens only once. Reads go on until the disk takes
//! writes again. Then the tables are closed, the journal is checked as at a start, and they are opened: reads
//! wait for that moment. If that fails, it is tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::opening::{Opened, open_after_failure};
use super::tail::last_bytes;
use crate::engine::fjall::faults::Step;
use crate::engine::fjall::shared::Shared;
use crate::engine::fjall::tables::Tables;
use crate::engine::marks::Marks;

/// The time before the first attempt; each further one waits twice as long as the one before it, up to the
/// greatest.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The time between two checks whether reads have ended.
const LOOK: Duration = Duration::from_millis(1);

/// The time in which fjall's threads end after closing: one of them may be the last to hold a journal, and
/// then writes its bytes. One of them may be the last to hold a journal, whose bytes it then writes.
const ENDING: Duration = Duration::from_millis(100);

/// Opens the engine until that works, and returns its new actor and its last batch; `None` if the engine is
/// dropped before.
pub(in crate::engine::fjall) fn open_anew(shared: &Shared) -> Option<(Marks, u64)> {
    let mut pause = PAUSE_MIN;
    while !shared.queue.wait_closed(pause) {
        pause = PAUSE_MAX.min(2 * pause);
        shared.space.look(0);
        // Reads go on while there is no room for what is written before the tables are open again.
        let probe = || shared.folder.probe(last_bytes(&shared.folder)?);
        if shared.faults.check(Step::Probe).and_then(|()| probe()).is_err() {
            continue;
        }
        if let Some(tables) = shared.tables.swap(None) {
            close(shared, tables);
        }
        if shared.faults.check(Step::Open).is_err() {
            continue;
        }
        if let Ok(Opened { tables, marks, last_batch, cut }) =
            open_after_failure(&shared.folder, &shared.options)
        {
            shared.add_cut(cut);
            shared.put_tables(tables);
            shared.queue.accept();
            return Some((marks, last_batch));
        }
    }
    None
}

/// Closes the tables when the reads that are under way have ended. A read ends without waiting for anybody.
fn close(shared: &Shared, mut tables: Arc<Tables>) {
    let tables = loop {
        match Arc::try_unwrap(tables) {
            Ok(tables) => break tables,
            Err(shared) => tables = shared,
        }
        std::thread::park_timeout(LOOK);
    };
    // A lock that a panic has poisoned makes fjall panic again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(tables)));
    shared.queue.wait_closed(ENDING);
}
