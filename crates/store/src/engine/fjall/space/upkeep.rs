//! The upkeep of an open engine, on a thread of its own: rows that were removed go from its files.
//!
//! fjall keeps a removed row, and a mark that it was removed, until it writes the file of the row anew, which
//! only new writes bring about. A query passes all of them, and the disk keeps them. The upkeep therefore has
//! the rows of a table written anew
//! - when few writes come and an eighth of its rows are such marks,
//! - under load from [`BUSY_REMOVED`] of them on, when they are a quarter of its rows: each removal then pays
//!   for a few rows.
//!
//! A table whose files of rows are longer than [`ROW_BYTES_MAX`] is left to fjall, which compacts it part by
//! part.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use ::fjall::Keyspace;

use crate::engine::fjall::hidden;
use crate::engine::fjall::shared::Shared;
use crate::engine::fjall::stop::Stop;
use crate::engine::fjall::tables::{Table, Tables};

/// The time between two looks.
const TICK: Duration = Duration::from_secs(1);

/// The batches between two checks that count as few, and the checks in a row that have to see few.
const QUIET_BATCHES: u64 = 4;
const QUIET_TICKS: u32 = 2;

/// The removed rows from which on a table is compacted under load.
const BUSY_REMOVED: u64 = if cfg!(test) { 1024 } else { 16 * 1024 };

/// The bytes of files of rows up to which a table is written anew as a whole.
const ROW_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The bytes that a compaction of fjall itself writes at most: ten files of a level with one of the level
/// above.
const COMPACTION_BYTES_MAX: u64 = 640 * 1024 * 1024;

/// The checks after which the operator is told that a full disk has room again.
const ROOMY_TICKS: u32 = 5;

/// The checks after which a compaction is tried again that left removed rows, since a list still reads them.
const LEFT_TICKS: u32 = 30;

/// The pause between two checks of another thread's work, and the number of checks.
const WAIT: Duration = Duration::from_millis(5);
const WAITS_MAX: usize = 2_000;

/// The checks within which the journals are gone whose rows are all in files, unless writes go on.
const JOURNAL_WAITS_MAX: usize = 100;

/// The bytes of files up to which a table is compacted before the engine is open, which takes a second.
const FOUND_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// The thread. Dropping it ends it.
pub(in crate::engine::fjall) struct Upkeep {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

/// The upkeep of an engine that is being opened, before its thread.
pub(in crate::engine::fjall) struct Begun(Keeper);

impl Upkeep {
    /// Creates the upkeep before anybody reads or writes.
    pub(in crate::engine::fjall) fn begin(shared: Arc<Shared>) -> Begun {
        let mut keeper = Keeper::new(shared, Arc::default());
        // fjall panics where a panic of another of its threads left a lock.
        let _ = catch_unwind(AssertUnwindSafe(|| keeper.begin()));
        Begun(keeper)
    }
}

impl Begun {
    /// Starts the thread.
    pub(in crate::engine::fjall) fn start(self) -> std::io::Result<Upkeep> {
        let Self(mut keeper) = self;
        let stop = Arc::clone(&keeper.stop);
        keeper.is_open = true;
        let thread = Builder::new().name("alula-store-keep".into()).spawn(move || keeper.run())?;
        Ok(Upkeep { stop, thread: Some(thread) })
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // It catches its panics.
            let _ = thread.join();
        }
    }
}

struct Keeper {
    shared: Arc<Shared>,
    stop: Arc<Stop>,
    /// False before there is a thread that writes.
    is_open: bool,
    /// The batches at the last check, and the checks since many came.
    seen: u64,
    quiet: u32,
    /// The checks since the disk was full.
    roomy: u32,
    ticks: u32,
    /// The removed rows that the last compaction of each table left, and its time; none before the first one.
    left: [Option<(u64, u32)>; Table::ALL.len()],
}

impl Keeper {
    const fn new(shared: Arc<Shared>, stop: Arc<Stop>) -> Self {
        let left = [None; Table::ALL.len()];
        Self { shared, stop, is_open: false, seen: 0, quiet: 0, roomy: 0, ticks: 0, left }
    }

    /// Rows that were in memory before a restart may be removed ones: journals are read into memory.
    fn begin(&mut self) {
        let Some(tables) = self.shared.tables() else { return };
        for table in Table::ALL {
            self.shared.removed.add_found(table, hidden::rows_in_memory(tables.table(table)) / 2);
        }
        self.look_at_space(&tables);
        self.shared.space.begin();
        // Nobody has written yet.
        self.quiet = QUIET_TICKS;
        self.compact_found(&tables);
    }

    /// Compacts the tables for which that is quick: otherwise the first list would pass all removed rows that
    /// journals brought back.
    fn compact_found(&mut self, tables: &Tables) {
        let is_quick = |table| tables.table(table).disk_space() <= FOUND_BYTES_MAX;
        let due = Table::ALL.map(|table| is_quick(table) && self.is_due(tables, table));
        if due.contains(&true) && !self.shared.space.is_full() {
            self.compact(tables, &due);
        }
    }

    fn run(mut self) {
        loop {
            // fjall panics where a panic of another of its threads left a lock.
            let _ = catch_unwind(AssertUnwindSafe(|| self.look()));
            if self.stop.wait(TICK) {
                return;
            }
        }
    }

    fn look(&mut self) {
        let Some(tables) = self.shared.tables.load_full() else { return };
        let batches = self.shared.removed.batches();
        let is_quiet = batches.wrapping_sub(self.seen) <= QUIET_BATCHES;
        (self.seen, self.ticks) = (batches, self.ticks.wrapping_add(1));
        self.quiet = if is_quiet { self.quiet.saturating_add(1) } else { 0 };
        self.look_at_space(&tables);
        Table::ALL
            .into_iter()
            .for_each(|table| tables.gaps().set_removed(table, self.removed(&tables, table)));
        let due = Table::ALL.map(|table| self.is_due(&tables, table));
        if due.contains(&true) {
            self.compact(&tables, &due);
        } else if (self.quiet == QUIET_TICKS || self.shared.space.is_full()) && tables.journals() > 1 {
            self.write_out(&tables);
        }
    }

    /// Reads the free space, and what the largest compaction of fjall may write.
    fn look_at_space(&mut self, tables: &Tables) {
        let space = &self.shared.space;
        let bytes = Table::ALL.map(|table| hidden::row_bytes(tables.table(table)));
        space.set_compaction(bytes.into_iter().max().unwrap_or(0).min(COMPACTION_BYTES_MAX));
        let unwritten = tables.unwritten_bytes();
        space.mend(unwritten);
        space.look(unwritten);
        self.roomy = if space.is_full() { 0 } else { self.roomy.saturating_add(1) };
        if self.roomy >= ROOMY_TICKS {
            space.tell_of_room();
        }
    }

    fn is_due(&self, tables: &Tables, table: Table) -> bool {
        let keyspace = tables.table(table);
        let removed = self.removed(tables, table);
        let is_tried = self.left[table as usize]
            .is_some_and(|(left, at)| removed <= left + left / 2 && self.ticks.wrapping_sub(at) < LEFT_TICKS);
        let has_stale_values = keyspace.fragmented_blob_bytes() > keyspace.disk_space() / 2;
        if (removed == 0 && !has_stale_values) || is_tried {
            return false;
        }
        let rows = keyspace.approximate_len() as u64;
        let is_worth = match self.quiet >= QUIET_TICKS || self.shared.space.is_full() {
            true => removed >= rows / 8 || has_stale_values,
            false => removed >= BUSY_REMOVED && removed >= rows / 4,
        };
        is_worth && hidden::row_bytes(keyspace) <= ROW_BYTES_MAX
    }

    /// Returns an estimate of the bytes that a compaction of a table writes.
    fn bytes_left(&self, tables: &Tables, table: Table) -> u64 {
        let keyspace = tables.table(table);
        let rows = keyspace.approximate_len() as u64;
        // A removed row and its mark are two of them.
        let left = rows.saturating_sub(2 * self.removed(tables, table));
        let bytes = u128::from(hidden::row_bytes(keyspace)) * u128::from(left) / u128::from(rows.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    fn removed(&self, tables: &Tables, table: Table) -> u64 {
        hidden::removals(tables.table(table)) + self.shared.removed.rows(table)
    }

    /// Writes the tables that are due anew.
    fn compact(&mut self, tables: &Tables, due: &[bool; Table::ALL.len()]) {
        let due = || Table::ALL.into_iter().filter(|table| due[*table as usize]);
        self.renew(tables);
        due().for_each(|table| self.shared.removed.take(table));
        if !self.write_out(tables) {
            return;
        }
        let has_room = |table: &Table| self.shared.space.make_room(self.bytes_left(tables, *table));
        for table in due().filter(|_| !self.is_stopped()).filter(has_room) {
            // One that fails, for want of room on the disk, has changed nothing.
            let _ = hidden::compact(tables.table(table));
        }
        // The files before it go with the snapshots that need them.
        self.renew(tables);
        due().for_each(|table| self.note_left(tables, table));
    }

    /// Notes the removed rows that a compaction found and left.
    fn note_left(&mut self, tables: &Tables, table: Table) {
        // Rows that were removed since it began wait for the next one, not for a list that is read.
        let meanwhile = self.shared.removed.rows(table);
        let left = hidden::removals(tables.table(table)).saturating_sub(meanwhile);
        self.left[table as usize] = Some((left, self.ticks));
    }

    /// Waits until the rows of all tables are in files, so that journals go. It comes before the rows are
    /// written anew: of a table that becomes empty fjall no longer knows that its rows were in files, and
    /// keeps the journals that had them.
    fn write_out(&self, tables: &Tables) -> bool {
        let keyspaces = || Table::ALL.into_iter().map(|table| tables.table(table));
        let is_written = |keyspace: &Keyspace| keyspace.sealed_memtable_count() == 0;
        let is_done = keyspaces().all(|keyspace| hidden::write_out(keyspace).is_ok())
            && self.wait(|| keyspaces().all(is_written));
        // fjall gives them up a moment after the last file is there.
        is_done && (self.wait_for(JOURNAL_WAITS_MAX, || tables.journals() <= 1) || !self.is_stopped())
    }

    /// Waits for a new latest snapshot, so that only open lists need older ones.
    fn renew(&self, tables: &Tables) {
        if self.is_open {
            self.shared.removed.ask_for_snapshot();
            self.wait(|| !self.shared.removed.wants_snapshot());
        } else {
            tables.renew_snapshot();
        }
        tables.give_up_old(self.stop.flag());
    }

    /// Waits for another thread. Returns false if it is to stop, or if the engine is closed.
    fn wait(&self, is_so: impl Fn() -> bool) -> bool {
        self.wait_for(WAITS_MAX, is_so)
    }

    fn wait_for(&self, waits: usize, is_so: impl Fn() -> bool) -> bool {
        for _ in 0..waits {
            if self.is_stopped() {
                return false;
            }
            if is_so() {
                return true;
            }
            self.stop.wait(WAIT);
        }
        false
    }

    fn is_stopped(&self) -> bool {
        self.stop.flag().load(Relaxed) || self.shared.queue.refuses()
    }
}

#[cfg(test)]
mod tests {
    use super::super::upkeep_tests::{open, put_all, remove, write_out};
    use super::*;

    /// Removed rows in a batch and in files, too few for a compaction.
    const REMOVED: usize = 100;

    #[tokio::test]
    async fn rows_that_are_removed_meanwhile_are_not_what_a_compaction_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = open(&folder);
        put_all(&engine).await;
        let tables = engine.shared.tables().expect("open tables");
        let mut keeper = Keeper::new(Arc::clone(&engine.shared), Arc::default());
        remove(&engine, 0..REMOVED).await;
        keeper.note_left(&tables, Table::Objects);
        assert_eq!(keeper.left[Table::Objects as usize], Some((0, 0)), "in memory");
        write_out(&engine).await;
        keeper.note_left(&tables, Table::Objects);
        assert_eq!(keeper.left[Table::Objects as usize], Some((0, 0)), "in a file");
        keeper.shared.removed.take(Table::Objects);
        keeper.note_left(&tables, Table::Objects);
        assert_eq!(keeper.left[Table::Objects as usize], Some((REMOVED as u64, 0)));
    }
}
