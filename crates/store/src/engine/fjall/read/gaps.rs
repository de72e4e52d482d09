//! Gaps: runs of removed rows that a list has passed, which the lists after it leave out.
//!
//! fjall keeps the mark of a removed row until it writes the file anew, and a list passes all of them: at the
//! head of a queue those of all that was taken from it. A gap says that no row of a table is from its low key
//! on and before its end, in the state after the batch `since` and in each later one.
//!
//! A list that leaves a gap out misses nothing:
//! - A gap is what a list found to be empty in the state after batch n.
//! - The thread that writes [notes](Gaps::put) each key that it puts before it commits the batch. The key is
//!   cut out of the gaps, and kept in a log. The empty run that a list found is cut by the keys of the log
//!   that came after batch n, and is no gap if the log no longer has all of these.
//! - A gap that is there therefore has no row in any state from that after `since` to that after the last
//!   batch that was begun, and no state is read that is later. A list in an older state does not use it.
//!
//! A table has gaps while it has removed rows. They are in memory alone. At a start the upkeep compacts small
//! tables, and in others the first list finds them again.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::fjall::Slice;

use crate::engine::fjall::tables::Table;

/// The removed rows from which on a table keeps gaps, and below which it drops them.
const ON: u64 = 64;
const OFF: u64 = 16;

/// The gaps of a table, and the bytes of their keys.
const GAPS_MAX: usize = 512;
const GAP_BYTES_MAX: usize = 1024 * 1024;

/// The keys that a table's log holds, and their bytes.
const LOG_KEYS_MAX: usize = 4096;
const LOG_BYTES_MAX: usize = 1024 * 1024;

/// The times that a gap may be split by a key that is put; after that, the part behind the key is dropped.
/// Keys of a queue are put one behind the other, and each would leave a gap in which nothing was removed.
const SPLITS_MAX: u8 = 4;

/// The gaps of all tables.
#[derive(Default)]
pub(in crate::engine::fjall) struct Gaps {
    tables: [TableGaps; Table::ALL.len()],
}

#[derive(Default)]
struct TableGaps {
    /// The removed rows that still take room, as an estimate.
    removed: AtomicU64,
    is_on: AtomicBool,
    known: Mutex<Known>,
}

/// A run of keys without a row, from the first key on and before the second one, or to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine::fjall) struct Gap {
    pub(in crate::engine::fjall) low: Box<[u8]>,
    pub(in crate::engine::fjall) end: Option<Box<[u8]>>,
}

#[cfg(test)]
impl Gap {
    pub(in crate::engine::fjall) fn between(low: &[u8], end: Option<&[u8]>) -> Self {
        Self { low: low.into(), end: end.map(Box::from) }
    }
}

#[derive(Default)]
struct Known {
    gaps: BTreeMap<Box<[u8]>, Rest>,
    bytes: usize,
    log: Log,
}

/// A gap without its low key.
#[derive(Debug)]
struct Rest {
    end: Option<Box<[u8]>>,
    since: u64,
    splits: u8,
}

impl Gaps {
    /// Creates the gaps of tables with so many removed rows; batches are counted from 1.
    pub(in crate::engine::fjall) fn new(removed: impl Fn(Table) -> u64) -> Self {
        let gaps = Self::default();
        for table in Table::ALL {
            gaps.set_removed(table, removed(table));
            gaps.turn(table, 1);
        }
        gaps
    }

    /// Sets the number of removed rows of a table.
    pub(in crate::engine::fjall) fn set_removed(&self, table: Table, rows: u64) {
        self.of(table).removed.store(rows, Relaxed);
    }

    /// Begins a batch. Only the thread that writes may call this, [`put`](Self::put) and
    /// [`remove`](Self::remove).
    pub(in crate::engine::fjall) fn begin(&self, batch: u64) {
        Table::ALL.into_iter().for_each(|table| self.turn(table, batch));
    }

    /// Notes that a batch puts a row, before it is committed.
    pub(in crate::engine::fjall) fn put(&self, table: Table, key: &Slice, batch: u64) {
        if self.is_on(table) {
            let mut known = self.known(table);
            known.log.push(batch, key);
            known.cut(key);
        }
    }

    /// Counts a row that a batch removes.
    pub(in crate::engine::fjall) fn remove(&self, table: Table) {
        self.of(table).removed.fetch_add(1, Relaxed);
    }

    /// Returns true if a table may have gaps.
    pub(in crate::engine::fjall) fn is_on(&self, table: Table) -> bool {
        self.of(table).is_on.load(Relaxed)
    }

    /// Returns the first gap that ends behind a key, for a list that reads the state after this batch.
    pub(in crate::engine::fjall) fn next(&self, table: Table, key: &[u8], batch: u64) -> Option<Gap> {
        self.known(table).next(key, batch)
    }

    /// Remembers that there was no row from `low` on and before `end` in the state after a batch.
    pub(in crate::engine::fjall) fn remember(
        &self,
        table: Table,
        low: &[u8],
        end: Option<&[u8]>,
        batch: u64,
    ) {
        let mut known = self.known(table);
        if self.is_on(table) {
            known.remember(low, end, batch);
        }
    }

    /// Turns the gaps of a table on or off before a batch, by its removed rows.
    fn turn(&self, table: Table, batch: u64) {
        let TableGaps { removed, is_on, known } = self.of(table);
        let (removed, was_on) = (removed.load(Relaxed), is_on.load(Relaxed));
        if was_on == (removed >= if was_on { OFF } else { ON }) {
            return;
        }
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Known { log: Log::after(batch - 1), ..Known::default() };
        is_on.store(!was_on, Relaxed);
    }

    const fn of(&self, table: Table) -> &TableGaps {
        &self.tables[table as usize]
    }

    fn known(&self, table: Table) -> MutexGuard<'_, Known> {
        self.of(table).known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn next(&self, key: &[u8], batch: u64) -> Option<Gap> {
        let up_to = self.gaps.range::<[u8], _>((Bound::Unbounded, Bound::Included(key)));
        let holding = up_to.rev().take(1).filter(|(_, rest)| rest.is_behind(key));
        let behind = self.gaps.range::<[u8], _>((Bound::Excluded(key), Bound::Unbounded));
        let (low, rest) = holding.chain(behind).find(|(_, rest)| rest.since <= batch)?;
        Some(Gap { low: low.clone(), end: rest.end.clone() })
    }

    fn remember(&mut self, low: &[u8], end: Option<&[u8]>, batch: u64) {
        let Some(end) = self.log.cut(low, end, batch) else { return };
        if end.is_some_and(|end| end <= low) {
            return;
        }
        let (mut low, mut end) = (Box::from(low), end.map(Box::from));
        let mut since = batch;
        while let Some(other) = self.touching(&low, end.as_deref()) {
            let Some(rest) = self.take(&other) else { break };
            since = since.max(rest.since);
            end = if rest.is_behind_end(end.as_deref()) { rest.end } else { end };
            low = low.min(other);
        }
        self.insert(low, Rest { end, since, splits: 0 });
        while self.gaps.len() > GAPS_MAX || self.bytes > GAP_BYTES_MAX {
            let oldest = self.gaps.iter().min_by_key(|(_, rest)| rest.since).map(|(low, _)| low.clone());
            let Some(oldest) = oldest else { return };
            self.take(&oldest);
        }
    }

    /// Returns the low key of a gap that overlaps or touches a run.
    fn touching(&self, low: &[u8], end: Option<&[u8]>) -> Option<Box<[u8]>> {
        let last = match end {
            Some(end) => self.gaps.range::<[u8], _>((Bound::Unbounded, Bound::Included(end))).next_back(),
            None => self.gaps.last_key_value(),
        };
        let touches = |rest: &Rest| rest.end.as_deref().is_none_or(|end| end >= low);
        last.filter(|(_, rest)| touches(rest)).map(|(low, _)| low.clone())
    }

    /// Cuts a key out of the gap that spans it.
    fn cut(&mut self, key: &[u8]) {
        let up_to = self.gaps.range::<[u8], _>((Bound::Unbounded, Bound::Included(key)));
        let holding = up_to.rev().take(1).find(|(_, rest)| rest.is_behind(key));
        let Some(low) = holding.map(|(low, _)| low.clone()) else { return };
        let Some(Rest { end, since, splits }) = self.take(&low) else { return };
        let splits = splits.saturating_add(1);
        if *low < *key {
            self.insert(low, Rest { end: Some(Box::from(key)), since, splits });
        }
        let is_kept = splits <= SPLITS_MAX && self.gaps.len() < GAPS_MAX && self.bytes < GAP_BYTES_MAX;
        let behind = successor(key);
        if is_kept && end.as_ref().is_some_and(|end| **end > *behind) {
            self.insert(behind, Rest { end, since, splits });
        }
    }

    fn insert(&mut self, low: Box<[u8]>, rest: Rest) {
        self.bytes += low.len() + rest.bytes();
        self.gaps.insert(low, rest);
    }

    fn take(&mut self, low: &[u8]) -> Option<Rest> {
        let rest = self.gaps.remove(low)?;
        self.bytes -= low.len() + rest.bytes();
        Some(rest)
    }
}

impl Rest {
    fn is_behind(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_none_or(|end| end > key)
    }

    fn is_behind_end(&self, end: Option<&[u8]>) -> bool {
        end.is_some_and(|end| self.is_behind(end))
    }

    fn bytes(&self) -> usize {
        self.end.as_ref().map_or(0, |end| end.len())
    }
}

/// The keys that were put, by their batches.
#[derive(Default)]
struct Log {
    keys: VecDeque<(u64, Slice)>,
    bytes: usize,
    /// The batch from which on the log holds the keys of all batches.
    after: u64,
}

impl Log {
    fn after(batch: u64) -> Self {
        Self { after: batch, ..Self::default() }
    }

    fn push(&mut self, batch: u64, key: &Slice) {
        self.bytes += key.len();
        self.keys.push_back((batch, key.clone()));
        while self.keys.len() > LOG_KEYS_MAX || self.bytes > LOG_BYTES_MAX {
            let Some((batch, key)) = self.keys.pop_front() else { return };
            self.bytes -= key.len();
            self.after = batch;
        }
    }

    /// Returns the end of the part of a run before the first key in it that was put after a batch. Returns
    /// `None` if the log does not have them all.
    fn cut<'a>(&'a self, low: &[u8], end: Option<&'a [u8]>, batch: u64) -> Option<Option<&'a [u8]>> {
        if batch < self.after {
            return None;
        }
        let later = self.keys.iter().rev().take_while(|(of, _)| *of > batch).map(|(_, key)| &**key);
        let inside = later.filter(|key| *key >= low && end.is_none_or(|end| *key < end));
        Some(inside.min().or(end))
    }
}

/// Returns the key directly after a key.
pub(in crate::engine::fjall) fn successor(key: &[u8]) -> Box<[u8]> {
    [key, &[0]].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of a table that are on, with one from `a` to `m` in the state after batch 10.
    fn known() -> Known {
        let mut known = Known::default();
        known.remember(b"a", Some(b"m"), 10);
        known
    }

    fn put(known: &mut Known, batch: u64, key: &[u8]) {
        known.log.push(batch, &Slice::from(key));
        known.cut(key);
    }

    fn all(known: &Known) -> Vec<String> {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let end = |rest: &Rest| rest.end.as_ref().map_or("..".into(), |end| text(end));
        known.gaps.iter().map(|(low, rest)| format!("{} {} {}", text(low), end(rest), rest.since)).collect()
    }

    #[test]
    fn gaps_that_touch_are_one() {
        for (low, end, expected) in [
            (&b"m"[..], Some(&b"p"[..]), &["a p 12"][..]),
            (b"0", Some(b"a"), &["0 m 12"]),
            (b"c", Some(b"d"), &["a m 12"]),
            (b"0", None, &["0 .. 12"]),
            (b"n", None, &["a m 10", "n .. 12"]),
            (b"0", Some(b"1"), &["0 1 12", "a m 10"]),
            (b"c", Some(b"c"), &["a m 10"]),
        ] {
            let mut known = known();
            known.remember(low, end, 12);
            assert_eq!(all(&known), expected);
        }
        let mut known = known();
        known.remember(b"x", Some(b"z"), 11);
        known.remember(b"m", Some(b"x"), 5);
        assert_eq!(all(&known), ["a z 11"], "those that are joined are as late as the last of them");
    }

    #[test]
    fn a_key_that_is_put_is_cut_out() {
        for (key, expected) in [
            (&b"a"[..], &["a\\x00 m 10"][..]),
            (b"c", &["a c 10", "c\\x00 m 10"]),
            (b"m", &["a m 10"]),
            (b"0", &["a m 10"]),
        ] {
            let mut known = known();
            put(&mut known, 11, key);
            assert_eq!(all(&known), expected, "{key:?}");
        }
    }

    #[test]
    fn a_gap_ends_at_a_key_that_was_put_after_it_was_found() {
        for (key, expected) in [(&b"c"[..], &["b c 10"][..]), (b"b", &[]), (b"z", &["b m 10"])] {
            let mut known = Known::default();
            put(&mut known, 11, key);
            known.remember(b"b", Some(b"m"), 10);
            assert_eq!(all(&known), expected, "{key:?}");
            known.remember(b"b", Some(b"m"), 11);
            assert_eq!(all(&known), ["b m 11"], "it was found after {key:?} was put");
        }
    }

    #[test]
    fn what_the_log_no_longer_has_all_of_is_no_gap() {
        let mut known = Known::default();
        (0..=LOG_KEYS_MAX as u64).for_each(|number| put(&mut known, 100 + number, &number.to_be_bytes()));
        known.remember(b"b", Some(b"m"), 99);
        assert_eq!(all(&known), <[&str; 0]>::default());
        known.remember(b"b", Some(b"m"), 100);
        assert_eq!(all(&known), ["b m 100"]);
        let long = vec![0; LOG_BYTES_MAX / 2 + 1];
        put(&mut known, 5_000, &long);
        put(&mut known, 5_001, &long);
        assert_eq!((known.log.keys.len(), known.log.after, known.log.bytes), (1, 5_000, long.len()));
    }

    #[test]
    fn they_are_bounded() {
        let mut known = Known::default();
        for number in 0..2 * GAPS_MAX as u64 {
            known.remember(&(2 * number).to_be_bytes(), Some(&(2 * number + 1).to_be_bytes()), number);
        }
        assert_eq!((known.gaps.len(), known.bytes), (GAPS_MAX, 16 * GAPS_MAX));
        assert!(known.gaps.values().all(|rest| rest.since >= GAPS_MAX as u64), "the oldest go");
        let long = vec![b'l'; GAP_BYTES_MAX];
        known.remember(&long, None, 5_000);
        assert!(known.bytes <= GAP_BYTES_MAX && known.gaps.len() == 1);
    }

    #[test]
    fn keys_of_a_queue_leave_few_gaps_between_them() {
        let mut known = known();
        (0..200_u8).for_each(|number| put(&mut known, 11, &[b'b', number]));
        assert!(known.gaps.len() <= usize::from(SPLITS_MAX) + 1, "{:?}", all(&known));
        assert!(known.gaps.contains_key(&b"a"[..]), "that before all of them is left");
    }

    #[test]
    fn a_list_in_an_older_state_passes_a_gap_over() {
        let mut known = known();
        known.remember(b"p", None, 5);
        let low = |key: &[u8], batch| known.next(key, batch).map(|gap| gap.low);
        assert_eq!(low(b"b", 10).as_deref(), Some(&b"a"[..]));
        assert_eq!(low(b"b", 9).as_deref(), Some(&b"p"[..]));
        assert_eq!(low(b"m", 10).as_deref(), Some(&b"p"[..]));
        assert_eq!(low(b"b", 4), None);
    }
}
