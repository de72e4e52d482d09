//! The rows of a table, in the order of the whole names or entries that they stand for.

use std::ops::Bound;

use ::fjall::{Guard, Readable as _, Slice, Snapshot};
use tokio::time::Instant;

use super::errors::{Cause, unreadable};
use super::keys;
use super::least::Least;
use super::tables::{Table, Tables};
use crate::engine::EngineError;

/// The rows after which the time is looked at again.
const ROWS_PER_LOOK: usize = 64;

/// The rows of a table at one moment.
pub(super) struct Rows<'a> {
    tables: &'a Tables,
    snapshot: &'a Snapshot,
    table: Table,
    deadline: Instant,
    read: usize,
}

impl<'a> Rows<'a> {
    pub(super) const fn new(
        tables: &'a Tables,
        snapshot: &'a Snapshot,
        table: Table,
        deadline: Instant,
    ) -> Self {
        Self { tables, snapshot, table, deadline, read: 0 }
    }

    /// Calls `visit` with each whole name or entry from `low` on, in order, until it returns false. Returns true if it never did.
    pub(super) fn visit(
        &mut self,
        low: Bound<&[u8]>,
        mut visit: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        let mut start = match low {
            Bound::Included(low) | Bound::Excluded(low) => Bound::Included(keys::start(low).to_vec()),
            Bound::Unbounded => Bound::Unbounded,
        };
        loop {
            let group = match self.visit_short(borrowed(&start), low, &mut visit)? {
                Reached::Group(group) => group,
                Reached::End => return Ok(true),
                Reached::Stop => return Ok(false),
            };
            if !self.visit_group(&group, low, &mut visit)? {
                return Ok(false);
            }
            start = Bound::Excluded(keys::end_of_group(&group));
        }
    }

    /// Visits rows up to a long one.
    fn visit_short(
        &mut self,
        start: Bound<&[u8]>,
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<Reached, EngineError> {
        let rows = self.snapshot.range::<&[u8], _>(self.tables.table(self.table), (start, Bound::Unbounded));
        for row in rows {
            self.look_at_time()?;
            let key = row.key().map_err(unreadable)?;
            if keys::is_long(&key) {
                return Ok(Reached::Group(keys::start(&key).to_vec()));
            }
            if is_from(low, &key) && !visit(&key) {
                return Ok(Reached::Stop);
            }
        }
        Ok(Reached::End)
    }

    /// Visits the long rows of a group, which are read once for each part of them that memory takes.
    fn visit_group(
        &mut self,
        group: &[u8],
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        let mut low = low.map(<[u8]>::to_vec);
        loop {
            let least = self.least(group, borrowed(&low))?;
            let has_left_out = least.has_left_out();
            let wholes = least.into_sorted();
            if !wholes.iter().all(|whole| visit(whole)) {
                return Ok(false);
            }
            match wholes.last() {
                Some(last) if has_left_out => low = Bound::Excluded(last.to_vec()),
                _ => return Ok(true),
            }
        }
    }

    fn least(&mut self, group: &[u8], low: Bound<&[u8]>) -> Result<Least, EngineError> {
        let mut least = Least::default();
        for row in self.snapshot.prefix(self.tables.table(self.table), group) {
            self.look_at_time()?;
            let whole = self.whole(row)?;
            if is_from(low, &whole) {
                least.push(whole);
            }
        }
        Ok(least)
    }

    /// The whole name or entry of a long row. That of an object is in a table of its own, beside no value.
    fn whole(&self, row: Guard) -> Result<Slice, EngineError> {
        if self.table != Table::Objects {
            return row.value().map_err(unreadable);
        }
        let key = row.key().map_err(unreadable)?;
        let name = self.snapshot.get(self.tables.table(Table::Names), key).map_err(unreadable)?;
        name.ok_or_else(|| unreadable(Cause::MissingName))
    }

    fn look_at_time(&mut self) -> Result<(), EngineError> {
        self.read += 1;
        if self.read.is_multiple_of(ROWS_PER_LOOK) && Instant::now() > self.deadline {
            return Err(EngineError::TimedOut);
        }
        Ok(())
    }
}

/// Why a run of short rows ended.
enum Reached {
    /// A long row, of a group that has these octets in common.
    Group(Vec<u8>),
    /// The end of the table.
    End,
    /// The visitor wants no more.
    Stop,
}

fn is_from(low: Bound<&[u8]>, whole: &[u8]) -> bool {
    match low {
        Bound::Included(low) => whole >= low,
        Bound::Excluded(low) => whole > low,
        Bound::Unbounded => true,
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
