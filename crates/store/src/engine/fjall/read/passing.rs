//! A pass over rows that remembers where no row was.

use std::time::{Duration, Instant};

use super::gaps::Gaps;
use crate::engine::fjall::tables::Table;

/// The time that a run without a row takes to be remembered: about that of some tens of removed rows.
const RUN_MIN: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_micros(20) };

/// A pass over a part of a table, from a key on.
pub(in crate::engine::fjall) struct Passing<'a> {
    gaps: &'a Gaps,
    table: Table,
    batch: u64,
    /// The least key that was not searched for a row yet.
    next: Vec<u8>,
    /// True directly behind a gap, which the next run extends.
    is_behind_gap: bool,
    read: Instant,
}

impl<'a> Passing<'a> {
    /// Begins at a key, in the state after a batch.
    pub(in crate::engine::fjall) fn begin(
        gaps: &'a Gaps,
        table: Table,
        batch: u64,
        next: &[u8],
        is_behind_gap: bool,
    ) -> Self {
        Self { gaps, table, batch, next: next.to_vec(), is_behind_gap, read: Instant::now() }
    }

    /// Records the next row. Returns true if it took long.
    pub(in crate::engine::fjall) fn row(&mut self, key: &[u8]) -> bool {
        let was_long = self.run_up_to(Some(key), false);
        self.next.clear();
        self.next.extend_from_slice(key);
        self.next.push(0);
        self.is_behind_gap = false;
        was_long
    }

    /// Records that no row is left before the end of the part, which is a gap or the end of the table.
    pub(in crate::engine::fjall) fn end(&mut self, gap: Option<&[u8]>) -> bool {
        self.run_up_to(gap, gap.is_some())
    }

    fn run_up_to(&mut self, end: Option<&[u8]>, is_before_gap: bool) -> bool {
        let now = Instant::now();
        let is_long = now.duration_since(self.read) >= RUN_MIN;
        self.read = now;
        if is_long || is_before_gap || self.is_behind_gap {
            self.gaps.remember(self.table, &self.next, end, self.batch);
        }
        is_long
    }
}
