//! The long rows of a group in order, kept from one page of a list to the next.
//!
//! Rows of a group lie in the order of their hashes, and a page is in that of their names. A pass over the
//! group therefore puts the least rows after the page before in order, as many as the memory takes, and the
//! pages that follow are read from them. Each pass of a list may take twice the memory of the one before.
//! Names of a group have their first bytes in common, and only what follows is kept.

use std::ops::Bound;

use super::least::Least;
use super::list_memory::{LIST_BYTES, ListShare};
use crate::engine::fjall::tables::Table;

/// The rows of a group from a low end on, as many as fit into memory.
#[derive(Debug)]
pub(in crate::engine::fjall) struct SortedGroup {
    table: Table,
    group: Vec<u8>,
    low: Bound<Vec<u8>>,
    /// The bytes of each row after those that all share.
    rows: Vec<Box<[u8]>>,
    has_left_out: bool,
    /// The share of the memory; `None` for rows that may not be kept.
    share: Option<ListShare>,
}

/// Rows of a group that follow each other.
#[derive(Debug, Default)]
pub(in crate::engine::fjall) struct Run<'a> {
    pub(in crate::engine::fjall) rows: &'a [Box<[u8]>],
    /// True if the group may have rows after these.
    pub(in crate::engine::fjall) has_more: bool,
}

impl SortedGroup {
    /// Sorts the least of `rows`, each of which is the rest of a name from `low` on.
    pub(in crate::engine::fjall) fn sort<E>(
        table: Table,
        group: &[u8],
        low: Bound<&[u8]>,
        share: Option<ListShare>,
        rows: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut least = Least::new(share.as_ref().map_or(LIST_BYTES, ListShare::bytes));
        rows(&mut |row| {
            if is_from(low, row) {
                least.push(row);
            }
        })?;
        let has_left_out = least.has_left_out();
        let (group, low) = (group.to_vec(), low.map(<[u8]>::to_vec));
        Ok(Self { table, group, low, rows: least.into_sorted(), has_left_out, share })
    }

    /// Returns the rows from `low` on, in order; `None` if it does not have the first of them.
    pub(in crate::engine::fjall) fn rows(
        &self,
        table: Table,
        group: &[u8],
        low: Bound<&[u8]>,
    ) -> Option<Run<'_>> {
        if !self.is_of(table, group) || place(low) < place(self.low.as_ref().map(Vec::as_slice)) {
            return None;
        }
        let start = self.rows.partition_point(|row| !is_from(low, row));
        let rows = &self.rows[start..];
        let run = Run { rows, has_more: self.has_left_out };
        (!rows.is_empty() || !self.has_left_out).then_some(run)
    }

    /// Returns the share for the next pass: twice as large if it is a pass over the same group.
    pub(in crate::engine::fjall) fn into_share(self, table: Table, group: &[u8]) -> Option<ListShare> {
        let is_next = self.is_of(table, group);
        self.share.filter(|_| is_next).map(|mut share| {
            share.grow();
            share
        })
    }

    pub(in crate::engine::fjall) const fn may_be_kept(&self) -> bool {
        self.share.is_some()
    }

    fn is_of(&self, table: Table, group: &[u8]) -> bool {
        self.table == table && self.group == group
    }
}

pub(in crate::engine::fjall) fn is_from(low: Bound<&[u8]>, bytes: &[u8]) -> bool {
    match low {
        Bound::Included(low) => bytes >= low,
        Bound::Excluded(low) => bytes > low,
        Bound::Unbounded => true,
    }
}

/// Returns a key that orders low ends: the fewer rows of a group are from an end on, the greater its key.
fn place(low: Bound<&[u8]>) -> Option<(&[u8], bool)> {
    match low {
        Bound::Included(low) => Some((low, false)),
        Bound::Excluded(low) => Some((low, true)),
        Bound::Unbounded => None,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use super::super::list_memory::ListMemory;
    use super::*;

    fn sorted(low: Bound<&[u8]>, rows: &[&[u8]], share: Option<ListShare>) -> SortedGroup {
        let rows = |push: &mut dyn FnMut(&[u8])| {
            rows.iter().for_each(|row| push(row));
            Ok::<_, Infallible>(())
        };
        SortedGroup::sort(Table::Objects, b"g", low, share, rows).expect("no error")
    }

    fn found(sorted: &SortedGroup, low: Bound<&[u8]>) -> Option<usize> {
        sorted.rows(Table::Objects, b"g", low).map(|run| run.rows.len())
    }

    #[test]
    fn rows_are_found_from_where_the_group_was_sorted_on() {
        let group = sorted(Bound::Excluded(b"b"), &[b"d", b"a", b"c", b"b"], None);
        for (low, count) in [
            (Bound::Unbounded, None),
            (Bound::Included(&b"b"[..]), None),
            (Bound::Excluded(b"b"), Some(2)),
            (Bound::Included(b"c"), Some(2)),
            (Bound::Excluded(b"c"), Some(1)),
            (Bound::Excluded(b"d"), Some(0)),
        ] {
            assert_eq!(found(&group, low), count, "{low:?}");
        }
        assert!(group.rows(Table::Names, b"g", Bound::Included(b"c")).is_none());
        assert!(group.rows(Table::Objects, b"h", Bound::Included(b"c")).is_none());
    }

    #[test]
    fn what_was_left_out_is_not_taken_for_the_end() {
        let (one, two) = (vec![1; LIST_BYTES], vec![2; LIST_BYTES]);
        let group = sorted(Bound::Unbounded, &[&two, &one], None);
        assert_eq!(group.rows(Table::Objects, b"g", Bound::Unbounded).map(|run| run.has_more), Some(true));
        assert_eq!(found(&group, Bound::Excluded(&one)), None);
    }

    #[test]
    fn the_next_pass_over_a_group_takes_twice_the_memory() {
        let memory = Arc::new(ListMemory::default());
        let group = sorted(Bound::Unbounded, &[b"a"], memory.share());
        assert!(group.may_be_kept());
        let share = group.into_share(Table::Objects, b"g");
        assert_eq!(share.as_ref().map(ListShare::bytes), Some(2 * LIST_BYTES));
        let group = sorted(Bound::Unbounded, &[b"a"], share);
        assert!(group.into_share(Table::Objects, b"h").is_none(), "another group begins anew");
    }
}
