//! The state of the engine at one moment, read in pages.

use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ::fjall::{Readable as _, Slice};
use tokio::time::Instant;

use super::rows::{Progress, Rows};
use crate::engine::fjall::errors::unreadable;
use crate::engine::fjall::failure::UnreadRow;
use crate::engine::fjall::keys;
use crate::engine::fjall::tables::{State, Table, Tables};
use crate::engine::memory::past;
use crate::engine::{
    BucketName, EngineError, IndexRange, Item, KeyRange, ObjectName, Page, Snapshot, layout,
};
use crate::model::Damaged;
use crate::model::bytes::put_counted;

/// The state of a [`Fjall`](crate::engine::fjall::Fjall) at one moment. It can no longer be read once the
/// engine was dropped or opened anew after a failed write.
pub struct FjallSnapshot {
    /// Weak, because the folder cannot be opened anew while anybody holds it open.
    tables: Weak<Tables>,
    state: Arc<State>,
    progress: Mutex<Progress>,
}

impl FjallSnapshot {
    pub(in crate::engine::fjall) fn new(tables: &Arc<Tables>) -> Self {
        Self { tables: Arc::downgrade(tables), state: tables.state(), progress: Mutex::default() }
    }

    /// Returns the number of rows that the pages have read so far. A list reads each row once, and rows of
    /// names of 4096 bytes or more, where many begin with the same ones, a few times at most while there is
    /// memory to put them in order.
    pub fn rows_read(&self) -> u64 {
        self.progress().rows_read()
    }

    /// Returns the runs that the pages have passed around gaps.
    #[cfg(test)]
    pub(in crate::engine::fjall) fn passed(&self) -> Vec<super::gaps::Gap> {
        self.progress().passed.clone()
    }

    /// Returns the keys of a table, as the embedded engine has them.
    #[cfg(test)]
    pub(in crate::engine::fjall) fn keys_of(&self, table: Table) -> Vec<Vec<u8>> {
        let tables = self.tables().expect("open tables");
        let rows = self.state.snapshot().iter(tables.table(table));
        rows.map(|row| row.key().expect("a row").to_vec()).collect()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> Result<Arc<Tables>, EngineError> {
        self.tables.upgrade().ok_or(EngineError::Reopening)
    }

    fn first(&self, tables: &Tables, low: &[u8], deadline: Instant) -> Result<Option<Vec<u8>>, EngineError> {
        let (mut first, mut progress) = (None, self.progress());
        Rows::new(tables, &self.state, Table::Objects, deadline, &mut progress).visit(
            Bound::Included(low),
            |name| {
                first = Some(name.to_vec());
                false
            },
        )?;
        Ok(first)
    }
}

impl Snapshot for FjallSnapshot {
    type Bytes = Slice;

    async fn get(&self, name: ObjectName<'_>, _: Instant) -> Result<Option<Slice>, EngineError> {
        let (mut whole, mut folded) = (alula::Scratch::lend(), alula::Scratch::lend());
        name.write(&mut whole);
        let key = keys::fold(&whole, &mut folded);
        let at = |error| unreadable(UnreadRow::at(Table::Objects.name(), key, error));
        self.state.snapshot().get(self.tables()?.table(Table::Objects), key).map_err(at)
    }

    async fn keys(&self, range: KeyRange<'_>, page: &mut Page, deadline: Instant) -> Result<(), EngineError> {
        page.clear();
        let (mut prefix, mut low) = (Vec::new(), Vec::new());
        range.bucket.write(&mut prefix);
        let after = range.after.filter(|after| *after >= range.low);
        low.extend_from_slice(&prefix);
        low.extend_from_slice(after.unwrap_or(range.low));
        let tables = self.tables()?;
        let mut progress = self.progress();
        let mut rows = Rows::new(&tables, &self.state, Table::Objects, deadline, &mut progress);
        let mut is_full = false;
        rows.visit(start(&low, after.is_some()), |name| {
            let key = name.strip_prefix(&prefix[..]);
            let Some(key) = key.filter(|key| range.high.is_none_or(|high| *key <= high)) else {
                return false;
            };
            is_full = !page.push(Item { term: b"", key });
            !is_full
        })?;
        end_unless(is_full, page);
        Ok(())
    }

    async fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        page.clear();
        let tables = self.tables()?;
        let mut last = after.map(<[u8]>::to_vec);
        loop {
            let mut low = Vec::new();
            match &last {
                Some(bucket) => {
                    BucketName { bucket_type, bucket }.write(&mut low);
                    past(&mut low);
                }
                None => put_counted(bucket_type, &mut low),
            }
            let next = self.first(&tables, &low, deadline)?;
            // A name that cannot be read is not the end of the list.
            let next = next.as_deref().map(|name| ObjectName::read(name).ok_or(Damaged)).transpose()?;
            let next = next.map(|name| name.bucket);
            let Some(next) = next.filter(|next| next.bucket_type == bucket_type) else {
                page.end();
                return Ok(());
            };
            if !page.push(Item { term: b"", key: next.bucket }) {
                return Ok(());
            }
            last = Some(next.bucket.to_vec());
        }
    }

    async fn entries(
        &self,
        range: IndexRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        page.clear();
        let mut prefix = Vec::new();
        layout::put_index(range.bucket, range.field, &mut prefix);
        let mut low = prefix.clone();
        layout::put_term(range.after.map_or(range.low, |(term, _)| term), &mut low);
        low.extend_from_slice(range.after.map_or(&[][..], |(_, key)| key));
        let tables = self.tables()?;
        let mut progress = self.progress();
        let mut rows = Rows::new(&tables, &self.state, Table::Entries, deadline, &mut progress);
        let (mut term, mut is_full, mut is_damaged) = (Vec::new(), false, false);
        rows.visit(start(&low, range.after.is_some()), |entry| {
            let Some(rest) = entry.strip_prefix(&prefix[..]) else { return false };
            let Some(key) = layout::read_term(rest, &mut term) else {
                is_damaged = true;
                return false;
            };
            if &term[..] > range.high {
                return false;
            }
            is_full = !page.push(Item { term: &term, key });
            !is_full
        })?;
        if is_damaged {
            return Err(Damaged.into());
        }
        end_unless(is_full, page);
        Ok(())
    }

    async fn deleted(
        &self,
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        page.clear();
        let tables = self.tables()?;
        let mut progress = self.progress();
        let mut rows = Rows::new(&tables, &self.state, Table::Deleted, deadline, &mut progress);
        let low = after.map_or(Bound::Unbounded, Bound::Excluded);
        let is_all = rows.visit(low, |name| page.push(Item { term: b"", key: name }))?;
        end_unless(!is_all, page);
        Ok(())
    }
}

impl std::fmt::Debug for FjallSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FjallSnapshot").finish_non_exhaustive()
    }
}

/// Returns the low end of a page: after the item that ended the last one, or at the least.
fn start(low: &[u8], is_after: bool) -> Bound<&[u8]> {
    if is_after { Bound::Excluded(low) } else { Bound::Included(low) }
}

fn end_unless(is_full: bool, page: &mut Page) {
    if !is_full {
        page.end();
    }
}
