//! A view of a dynamic table, for tests and debugging.

use core::fmt;

use crate::shown::Shown;
use crate::table::dynamic::Table;

/// The contents of a dynamic table.
#[derive(Clone, Copy)]
pub struct TableView<'a> {
    table: &'a Table,
}

impl<'a> TableView<'a> {
    pub(crate) fn new(table: &'a Table) -> Self {
        Self { table }
    }

    /// Returns the number of entries.
    pub fn len(self) -> usize {
        self.table.len() as usize
    }

    /// Returns true if there is no entry.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the size of all entries, in bytes as RFC 7541 §4.1 counts them.
    pub fn bytes(self) -> u32 {
        self.table.size()
    }

    /// Returns the maximum size, in the same bytes.
    pub fn bytes_max(self) -> u32 {
        self.table.size_max()
    }

    /// Returns the entries as names and values, newest first, with indexes from 62 up.
    pub fn entries(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let table = self.table;
        (table.oldest_id()..table.next_id()).rev().map(|id| {
            let entry = table.entry(id);
            (entry.name, entry.value)
        })
    }
}

impl fmt::Debug for TableView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries().map(|(name, value)| Shown { name, value, is_secret: false });
        f.debug_list().entries(entries).finish()
    }
}
