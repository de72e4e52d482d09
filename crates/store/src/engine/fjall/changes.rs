//! Changes: the rows that the writes of one batch leave, each once, over what is stored.
//!
//! A write of the batch reads what the writes before it leave. Rows are kept together at the end.

use std::collections::HashMap;

use ::fjall::Slice;

use super::errors::{Cause, unreadable};
use super::keys;
use super::tables::{Table, Tables};
use crate::engine::{EngineError, ObjectName, entries, layout};
use crate::model::{Damaged, Record};

/// The rows of a batch: their values, or `None` for those that are removed.
#[derive(Default)]
pub(super) struct Changes {
    rows: [HashMap<Slice, Option<Slice>>; Table::ALL.len()],
    octets: usize,
}

impl Changes {
    /// The value that a row will have after the batch.
    pub(super) fn value(
        &self,
        tables: &Tables,
        table: Table,
        key: &[u8],
    ) -> Result<Option<Slice>, EngineError> {
        match self.rows[table as usize].get(key) {
            Some(value) => Ok(value.clone()),
            None => tables.value(table, key),
        }
    }

    /// Leaves a value in a row, or no row.
    pub(super) fn put(&mut self, table: Table, key: &[u8], value: Option<Slice>) {
        self.octets += key.len() + value.as_ref().map_or(0, |value| value.len());
        self.rows[table as usize].insert(Slice::from(key), value);
    }

    /// Puts a record in the place of another one, with the entries of its indexes, and returns it as it will be read. The one before is given up
    /// before the new one is copied: both may be large.
    pub(super) fn replace(
        &mut self,
        encoded: &[u8],
        stored: Option<Slice>,
        after: Option<&[u8]>,
    ) -> Result<Option<Slice>, EngineError> {
        if after.is_some_and(|after| u32::try_from(after.len()).is_err()) {
            return Err(unreadable(Cause::TooLong));
        }
        let before = stored.as_deref().map(Record::read).transpose()?;
        let record = after.map(Record::read).transpose()?;
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
        drop(stored);
        let after = after.map(Slice::from);
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
        let (gone, come) = (entries::of(before), entries::of(after));
        let (mut entry, mut memory) = (Vec::new(), Vec::new());
        let mut put = |(field, term): &(Vec<u8>, Vec<u8>), is_kept: bool| {
            entry.clear();
            layout::put_index(name.bucket, field, &mut entry);
            layout::put_term(term, &mut entry);
            entry.extend_from_slice(name.key);
            let key = keys::fold(&entry, &mut memory);
            self.put(Table::Entries, key, is_kept.then(|| whole(&entry)));
        };
        gone.difference(&come).for_each(|gone| put(gone, false));
        come.difference(&gone).for_each(|come| put(come, true));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.iter().all(HashMap::is_empty)
    }

    /// The octets of keys and values, and more where a row was changed twice.
    pub(super) const fn octets(&self) -> usize {
        self.octets
    }

    /// The rows, which are then gone.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Table, Slice, Option<Slice>)> {
        self.octets = 0;
        let tables = Table::ALL.into_iter().zip(&mut self.rows);
        tables.flat_map(|(table, rows)| rows.drain().map(move |(key, value)| (table, key, value)))
    }
}

/// The value in the row of a name or an entry: the whole of a long one, nothing for a short one.
fn whole(octets: &[u8]) -> Slice {
    Slice::from(if keys::is_long(octets) { octets } else { &[] })
}

fn reads_as_deleted(record: Option<Record<'_>>) -> bool {
    record.is_some_and(|record| record.is_deleted())
}
