//! Changes: the rows that the writes of one batch change, each once.
//!
//! A write of the batch reads what the writes before it leave. Rows are kept together at the end, in the
//! order of their keys: a row that is put behind the one before it is found near it, in memory that the
//! processor still has.

use std::collections::BTreeMap;
use std::mem::take;

use ::fjall::Slice;

use crate::engine::entry_keys::EntryKeys;
use crate::engine::fjall::errors::{Cause, unreadable};
use crate::engine::fjall::keys;
use crate::engine::fjall::tables::{Table, Tables};
use crate::engine::{EngineError, ObjectName};
use crate::model::{Damaged, Record};

/// The rows of a batch: their values, or `None` for those that are removed.
#[derive(Default)]
pub(in crate::engine::fjall) struct Changes {
    rows: [BTreeMap<Slice, Option<Slice>>; Table::ALL.len()],
    /// The rows of index entries, which are the most, in the order of their writes: each write sorts its own.
    entries: Vec<(Slice, Option<Slice>)>,
    bytes: usize,
}

impl Changes {
    /// Returns the value that a row will have after the batch.
    pub(in crate::engine::fjall) fn value(
        &self,
        tables: &Tables,
        table: Table,
        key: &[u8],
    ) -> Result<Option<Slice>, EngineError> {
        match self.kept(table, key) {
            Some(value) => Ok(value.clone()),
            None => tables.value(table, key),
        }
    }

    /// Returns true if the batch changes this row.
    pub(in crate::engine::fjall) fn holds(&self, table: Table, key: &[u8]) -> bool {
        self.kept(table, key).is_some()
    }

    fn kept(&self, table: Table, key: &[u8]) -> Option<&Option<Slice>> {
        match table {
            Table::Entries => self.entries.iter().rfind(|(other, _)| *key == **other).map(|(_, value)| value),
            _ => self.rows[table as usize].get(key),
        }
    }

    /// Sets the value of a row, or removes the row.
    pub(in crate::engine::fjall) fn put(&mut self, table: Table, key: &[u8], value: Option<Slice>) {
        self.bytes += key.len() + value.as_ref().map_or(0, |value| value.len());
        match table {
            Table::Entries => self.entries.push((Slice::from(key), value)),
            _ => _ = self.rows[table as usize].insert(Slice::from(key), value),
        }
    }

    /// Replaces a record and the entries of its indexes, and returns the new record.
    pub(in crate::engine::fjall) fn replace(
        &mut self,
        encoded: &[u8],
        stored: Option<Slice>,
        after: Option<Slice>,
    ) -> Result<Option<Slice>, EngineError> {
        if after.as_ref().is_some_and(|after| u32::try_from(after.len()).is_err()) {
            return Err(unreadable(Cause::TooLong));
        }
        let before = stored.as_deref().map(Record::read).transpose()?;
        let record = after.as_deref().map(Record::read).transpose()?;
        let name = ObjectName::read(encoded).ok_or(Damaged)?;
        let mut memory = Vec::new();
        let key = keys::fold(encoded, &mut memory);
        self.replace_entries(name, before, record);
        let (was_deleted, is_deleted) = (reads_as_deleted(before), reads_as_deleted(record));
        if was_deleted != is_deleted {
            self.put(Table::Deleted, key, is_deleted.then(|| whole(encoded)));
        }
        if keys::is_long(encoded) && before.is_some() != record.is_some() {
            self.put(Table::Names, key, record.is_some().then(|| Slice::from(encoded)));
        }
        let was_there = stored.is_some();
        if was_there || after.is_some() {
            self.put(Table::Objects, key, after.clone());
        }
        Ok(after)
    }

    fn replace_entries(
        &mut self,
        name: ObjectName<'_>,
        before: Option<Record<'_>>,
        after: Option<Record<'_>>,
    ) {
        let (gone, come) = (EntryKeys::of(name, before), EntryKeys::of(name, after));
        let mut memory = Vec::new();
        for entry in gone.without(&come) {
            self.put(Table::Entries, keys::fold(entry, &mut memory), None);
        }
        for entry in come.without(&gone) {
            self.put(Table::Entries, keys::fold(entry, &mut memory), Some(whole(entry)));
        }
    }

    pub(in crate::engine::fjall) fn is_empty(&self) -> bool {
        self.rows.iter().all(BTreeMap::is_empty) && self.entries.is_empty()
    }

    /// Returns the bytes of keys and values; a row that was changed twice counts for both.
    pub(in crate::engine::fjall) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drains the rows of each table, by their keys.
    pub(in crate::engine::fjall) fn drain(&mut self) -> impl Iterator<Item = (Table, Slice, Option<Slice>)> {
        self.bytes = 0;
        let mut entries = take(&mut self.entries);
        // Entries that several writes put stay in the order of these, and the last one counts.
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        entries.dedup_by(|(later, value), (earlier, kept)| {
            let is_same = later == earlier;
            if is_same {
                *kept = value.take();
            }
            is_same
        });
        let entries = entries.into_iter().map(|(key, value)| (Table::Entries, key, value));
        let tables = Table::ALL.into_iter().zip(&mut self.rows);
        let rows = tables
            .flat_map(|(table, rows)| take(rows).into_iter().map(move |(key, value)| (table, key, value)));
        rows.chain(entries)
    }
}

/// Returns the value in the row of a name or an entry: the whole of a long one, nothing for a short one.
fn whole(bytes: &[u8]) -> Slice {
    Slice::from(if keys::is_long(bytes) { bytes } else { &[] })
}

fn reads_as_deleted(record: Option<Record<'_>>) -> bool {
    record.is_some_and(|record| record.is_deleted())
}
