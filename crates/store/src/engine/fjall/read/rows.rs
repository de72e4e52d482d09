//! The rows of a table, in the order of the whole names or entries that they stand for.

use std::ops::Bound;

use ::fjall::{Guard, Readable as _, Slice};
use tokio::time::Instant;

use super::gaps::{Gap, successor};
use super::passing::Passing;
use super::sorted_group::{Run, SortedGroup, is_from};
use crate::engine::EngineError;
use crate::engine::fjall::errors::{Cause, unreadable};
use crate::engine::fjall::failure::UnreadRow;
use crate::engine::fjall::keys;
use crate::engine::fjall::tables::{State, Table, Tables};

/// The rows between two checks of the time.
const ROWS_PER_LOOK: u64 = 64;

/// The rows of a table at one moment.
pub(in crate::engine::fjall) struct Rows<'a> {
    tables: &'a Tables,
    state: &'a State,
    table: Table,
    deadline: Instant,
    progress: &'a mut Progress,
}

/// The rows that a snapshot keeps from page to page.
#[derive(Debug, Default)]
pub(in crate::engine::fjall) struct Progress {
    sorted: Option<SortedGroup>,
    rows_read: u64,
    /// The runs around gaps that were passed, each from a key up to the next row.
    #[cfg(test)]
    pub(in crate::engine::fjall) passed: Vec<Gap>,
}

impl Progress {
    /// Returns the number of rows that were read.
    pub(in crate::engine::fjall) const fn rows_read(&self) -> u64 {
        self.rows_read
    }
}

impl<'a> Rows<'a> {
    pub(in crate::engine::fjall) fn new(
        tables: &'a Tables,
        state: &'a State,
        table: Table,
        deadline: Instant,
        progress: &'a mut Progress,
    ) -> Self {
        Self { tables, state, table, deadline, progress }
    }

    /// Calls `visit` with each whole name or entry from `low` on, in order, until it returns false. Returns
    /// true if it never did.
    pub(in crate::engine::fjall) fn visit(
        &mut self,
        low: Bound<&[u8]>,
        mut visit: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        let is_all = self.visit_all(low, &mut visit);
        // If all lists have no more memory, a page has some while it is filled.
        self.progress.sorted.take_if(|sorted| !sorted.may_be_kept());
        is_all
    }

    fn visit_all(
        &mut self,
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        let mut start = match low {
            Bound::Included(low) | Bound::Excluded(low) => Bound::Included(keys::start(low).to_vec()),
            Bound::Unbounded => Bound::Unbounded,
        };
        loop {
            let has_gaps = self.tables.gaps().is_on(self.table);
            let reached = match has_gaps {
                true => self.visit_around_gaps(borrowed(&start), low, visit),
                false => self.visit_short(borrowed(&start), low, visit),
            };
            let group = match reached? {
                Reached::Group(group) => group,
                Reached::End => return Ok(true),
                Reached::Stop => return Ok(false),
            };
            if !self.visit_group(&group, low, visit)? {
                return Ok(false);
            }
            start = Bound::Excluded(keys::end_of_group(&group));
        }
    }

    /// Visits rows until a long one comes.
    fn visit_short(
        &mut self,
        start: Bound<&[u8]>,
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<Reached, EngineError> {
        let rows =
            self.state.snapshot().range::<&[u8], _>(self.tables.table(self.table), (start, Bound::Unbounded));
        let mut last: Option<Slice> = None;
        for row in rows {
            self.look_at_time()?;
            let key = row.key().map_err(|error| self.not_read(last.as_deref().or(inner(start)), error))?;
            if keys::is_long(&key) {
                return Ok(Reached::Group(keys::start(&key).to_vec()));
            }
            if is_from(low, &key) && !visit(&key) {
                return Ok(Reached::Stop);
            }
            last = Some(key);
        }
        Ok(Reached::End)
    }

    /// Visits rows until a long one comes, passing over gaps that earlier lists have found.
    fn visit_around_gaps(
        &mut self,
        start: Bound<&[u8]>,
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<Reached, EngineError> {
        let (mut from, mut is_behind_gap) = (first(start), false);
        loop {
            let gap = self.tables.gaps().next(self.table, &from, self.state.batch());
            let is_before_gap = gap.as_ref().is_none_or(|gap| *gap.low > *from);
            if is_before_gap
                && let Some(reached) = self.visit_part(&from, is_behind_gap, gap.as_ref(), low, visit)?
            {
                return Ok(reached);
            }
            match gap.and_then(|gap| gap.end) {
                Some(end) => (from, is_behind_gap) = (end, true),
                None => return Ok(Reached::End),
            }
        }
    }

    /// Visits rows up to a gap, or to the end of the table.
    fn visit_part(
        &mut self,
        from: &[u8],
        is_behind_gap: bool,
        gap: Option<&Gap>,
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Reached>, EngineError> {
        let (tables, table) = (self.tables, self.table);
        let end = gap.map(|gap| &*gap.low);
        let high = end.map_or(Bound::Unbounded, Bound::Excluded);
        let mut passing = Passing::begin(tables.gaps(), table, self.state.batch(), from, is_behind_gap);
        let rows =
            self.state.snapshot().range::<&[u8], _>(tables.table(table), (Bound::Included(from), high));
        let (mut last, behind) = (None::<Slice>, (!from.is_empty()).then_some(from));
        for row in rows {
            self.look_at_time()?;
            let key = row.key().map_err(|error| self.not_read(last.as_deref().or(behind), error))?;
            if passing.row(&key) {
                self.check_time()?;
            }
            #[cfg(test)]
            self.progress.passed.push(Gap::between(last.as_deref().unwrap_or(from), Some(&key)));
            if keys::is_long(&key) {
                return Ok(Some(Reached::Group(keys::start(&key).to_vec())));
            }
            if is_from(low, &key) && !visit(&key) {
                return Ok(Some(Reached::Stop));
            }
            last = Some(key);
        }
        passing.end(end);
        #[cfg(test)]
        self.progress.passed.push(Gap::between(last.as_deref().unwrap_or(from), end));
        Ok(None)
    }

    fn not_read(&self, behind: Option<&[u8]>, error: ::fjall::Error) -> EngineError {
        unreadable(UnreadRow::behind(self.table.name(), behind, error))
    }

    /// Visits the long rows of a group, sorted in parts that fit into memory.
    fn visit_group(
        &mut self,
        group: &[u8],
        low: Bound<&[u8]>,
        visit: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        let mut low = in_group(group, low).map(<[u8]>::to_vec);
        let mut whole = group.to_vec();
        loop {
            let Run { rows, has_more } = self.sorted(group, borrowed(&low))?;
            for row in rows {
                whole.truncate(group.len());
                whole.extend_from_slice(row);
                if !visit(&whole) {
                    return Ok(false);
                }
            }
            match rows.last() {
                Some(last) if has_more => low = Bound::Excluded(last.to_vec()),
                _ => return Ok(true),
            }
        }
    }

    /// Returns the least rows of a group from `low` on.
    fn sorted(&mut self, group: &[u8], low: Bound<&[u8]>) -> Result<Run<'_>, EngineError> {
        let table = self.table;
        let has_rows = |sorted: &SortedGroup| sorted.rows(table, group, low).is_some();
        if !self.progress.sorted.as_ref().is_some_and(has_rows) {
            let share = match self.progress.sorted.take() {
                Some(sorted) => sorted.into_share(table, group),
                None => None,
            };
            let share = share.or_else(|| self.tables.list_memory().share());
            let sorted = SortedGroup::sort(table, group, low, share, |push| self.read_group(group, push))?;
            self.progress.sorted = Some(sorted);
        }
        let sorted = self.progress.sorted.as_ref();
        Ok(sorted.and_then(|sorted| sorted.rows(table, group, low)).unwrap_or_default())
    }

    fn read_group(&mut self, group: &[u8], push: &mut dyn FnMut(&[u8])) -> Result<(), EngineError> {
        for row in self.state.snapshot().prefix(self.tables.table(self.table), group) {
            self.look_at_time()?;
            let whole = self.whole(group, row)?;
            push(whole.get(group.len()..).unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the whole name or entry of a long row. That of an object is in a table of its own, beside no
    /// value.
    fn whole(&self, group: &[u8], row: Guard) -> Result<Slice, EngineError> {
        let not_read = |error| self.not_read(Some(group), error);
        if self.table != Table::Objects {
            return row.value().map_err(not_read);
        }
        let key = row.key().map_err(not_read)?;
        let name = self.state.snapshot().get(self.tables.table(Table::Names), key).map_err(not_read)?;
        name.ok_or_else(|| unreadable(Cause::MissingName))
    }

    fn look_at_time(&mut self) -> Result<(), EngineError> {
        self.progress.rows_read += 1;
        if self.progress.rows_read.is_multiple_of(ROWS_PER_LOOK) { self.check_time() } else { Ok(()) }
    }

    fn check_time(&self) -> Result<(), EngineError> {
        if Instant::now() > self.deadline { Err(EngineError::TimedOut) } else { Ok(()) }
    }
}

/// The reason for which a run of short rows ended.
enum Reached {
    /// A long row, of a group that has these bytes in common.
    Group(Vec<u8>),
    /// The end of the table.
    End,
    /// The visitor wants no more.
    Stop,
}

/// Returns the low end among the bytes that follow those of a group. A low end that does not begin as the
/// group is less than all of it.
fn in_group<'a>(group: &[u8], low: Bound<&'a [u8]>) -> Bound<&'a [u8]> {
    match low {
        Bound::Included(low) => low.strip_prefix(group).map_or(Bound::Unbounded, Bound::Included),
        Bound::Excluded(low) => low.strip_prefix(group).map_or(Bound::Unbounded, Bound::Excluded),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// Returns the bytes of a bound.
const fn inner(bound: Bound<&[u8]>) -> Option<&[u8]> {
    match bound {
        Bound::Included(bytes) | Bound::Excluded(bytes) => Some(bytes),
        Bound::Unbounded => None,
    }
}

/// Returns the least key that is from a bound on.
fn first(bound: Bound<&[u8]>) -> Box<[u8]> {
    match bound {
        Bound::Included(bytes) => bytes.into(),
        Bound::Excluded(bytes) => successor(bytes),
        Bound::Unbounded => Box::default(),
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
