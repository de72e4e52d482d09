//! The pages that a list or a query reads: pages of one snapshot that follow each other, in one buffer.

use alula::Scratch;
use tokio::time::Instant;

use crate::engine::{BucketName, EngineError, IndexRange, Item, KeyRange, Page, Snapshot};

/// The items of a page.
const ITEMS_MAX: u64 = 1_000;

/// The part of a store that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selection<'a> {
    /// The buckets of a type.
    Buckets(&'a [u8]),
    /// The keys of a bucket, from the least one to the greatest, if there is one.
    Keys { bucket: BucketName<'a>, low: &'a [u8], high: Option<&'a [u8]> },
    /// The entries of an index, from the least term to the greatest.
    Entries { bucket: BucketName<'a>, field: &'a [u8], low: &'a [u8], high: &'a [u8] },
}

/// Pages of a selection.
pub(crate) struct Pages<'a, S> {
    snapshot: S,
    selection: Selection<'a>,
    deadline: Instant,
    page: Page,
    place: Place,
    /// The term and the key after which the next page begins.
    term: Scratch,
    key: Scratch,
}

/// The place at which the next page begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    AfterItem,
    End,
}

impl Selection<'_> {
    /// Returns true if the least is above the greatest.
    fn is_empty(&self) -> bool {
        match self {
            Self::Buckets(_) => false,
            Self::Keys { low, high, .. } => high.is_some_and(|high| *low > high),
            Self::Entries { low, high, .. } => low > high,
        }
    }

    /// Compares an item with the bounds: true if it is below the least, and true if it is above the greatest.
    pub(crate) fn bounds(&self, item: Item<'_>) -> (bool, bool) {
        match self {
            Self::Buckets(_) => (false, false),
            Self::Keys { low, high, .. } => (item.key < *low, high.is_some_and(|high| item.key > high)),
            Self::Entries { low, high, .. } => (item.term < *low, item.term > *high),
        }
    }
}

impl<'a, S: Snapshot> Pages<'a, S> {
    /// The pages of a selection, of which no more than `items_max` items are wanted.
    pub(crate) fn new(
        snapshot: S,
        selection: Selection<'a>,
        items_max: Option<u64>,
        deadline: Instant,
    ) -> Self {
        Self {
            snapshot,
            selection,
            deadline,
            page: Page::new(items_max.map_or(ITEMS_MAX, |most| most.min(ITEMS_MAX)) as usize),
            place: if selection.is_empty() { Place::End } else { Place::Start },
            term: Scratch::lend(),
            key: Scratch::lend(),
        }
    }

    /// Begins after an item. One that a client made up opens nothing outside of the selection.
    pub(crate) fn start_after(&mut self, item: Item<'_>) {
        let (is_below, is_above) = self.selection.bounds(item);
        if is_above {
            self.place = Place::End;
        } else if !is_below && self.place == Place::Start {
            self.place = Place::AfterItem;
            copy(item.term, &mut self.term);
            copy(item.key, &mut self.key);
        }
    }

    /// Reads the next page; `None` after the last one.
    ///
    /// # Errors
    /// [`EngineError::TimedOut`] after the deadline, or whatever the engine fails with.
    pub(crate) async fn next(&mut self) -> Result<Option<&Page>, EngineError> {
        if self.place == Place::End {
            return Ok(None);
        }
        if Instant::now() >= self.deadline {
            return Err(EngineError::TimedOut);
        }
        self.fill().await?;
        match self.page.items().next_back() {
            Some(last) if !self.page.is_last() => {
                self.place = Place::AfterItem;
                copy(last.term, &mut self.term);
                copy(last.key, &mut self.key);
            }
            _ => self.place = Place::End,
        }
        // An engine may answer without ever waiting, and results may be rare: others on this thread have their turn.
        tokio::task::yield_now().await;
        Ok(Some(&self.page))
    }

    async fn fill(&mut self) -> Result<(), EngineError> {
        let has_place = self.place == Place::AfterItem;
        let key = has_place.then_some(&self.key[..]);
        let (page, deadline) = (&mut self.page, self.deadline);
        match self.selection {
            Selection::Buckets(bucket_type) => self.snapshot.buckets(bucket_type, key, page, deadline).await,
            Selection::Keys { bucket, low, high } => {
                self.snapshot.keys(KeyRange { bucket, low, high, after: key }, page, deadline).await
            }
            Selection::Entries { bucket, field, low, high } => {
                let after = key.map(|key| (&self.term[..], key));
                let range = IndexRange { bucket, field, low, high, after };
                self.snapshot.entries(range, page, deadline).await
            }
        }
    }
}

fn copy(octets: &[u8], kept: &mut Vec<u8>) {
    kept.clear();
    kept.extend_from_slice(octets);
}
