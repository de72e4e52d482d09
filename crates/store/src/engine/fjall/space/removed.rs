//! Counts that the thread that writes keeps for the upkeep: batches, and rows that were removed and still
//! take room.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::engine::fjall::tables::Table;

/// The counts. Each is a hint: nothing is decided by it but what is worth a look.
#[derive(Debug, Default)]
pub(in crate::engine::fjall) struct Removed {
    rows: [AtomicU64; Table::ALL.len()],
    batches: AtomicU64,
    wants_snapshot: AtomicBool,
}

/// Rows of one batch that are removed, by their tables.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine::fjall) struct RemovedRows([u64; Table::ALL.len()]);

impl RemovedRows {
    /// Counts a row, if it is removed.
    pub(in crate::engine::fjall) const fn count(&mut self, table: Table, is_removed: bool) {
        self.0[table as usize] += is_removed as u64;
    }
}

impl Removed {
    /// Adds a batch that was kept.
    pub(in crate::engine::fjall) fn add(&self, rows: &RemovedRows) {
        self.batches.fetch_add(1, Relaxed);
        for (sum, rows) in self.rows.iter().zip(rows.0).filter(|(_, rows)| *rows > 0) {
            sum.fetch_add(rows, Relaxed);
        }
    }

    /// Adds rows of a table that may be removed ones: the engine does not know.
    pub(in crate::engine::fjall) fn add_found(&self, table: Table, rows: u64) {
        self.rows[table as usize].fetch_add(rows, Relaxed);
    }

    /// Returns the rows of a table that were removed since they were last taken.
    pub(in crate::engine::fjall) fn rows(&self, table: Table) -> u64 {
        self.rows[table as usize].load(Relaxed)
    }

    /// Resets the count of a table: its rows have got to files, which count them.
    pub(in crate::engine::fjall) fn take(&self, table: Table) {
        self.rows[table as usize].store(0, Relaxed);
    }

    /// Returns the batches that were kept.
    pub(in crate::engine::fjall) fn batches(&self) -> u64 {
        self.batches.load(Relaxed)
    }

    /// Asks the thread that writes for a new latest snapshot.
    pub(in crate::engine::fjall) fn ask_for_snapshot(&self) {
        self.wants_snapshot.store(true, Relaxed);
    }

    /// Returns true while a new snapshot is asked for.
    pub(in crate::engine::fjall) fn wants_snapshot(&self) -> bool {
        self.wants_snapshot.load(Relaxed)
    }

    /// Says that the snapshot is new.
    pub(in crate::engine::fjall) fn renewed_snapshot(&self) {
        self.wants_snapshot.store(false, Relaxed);
    }
}
