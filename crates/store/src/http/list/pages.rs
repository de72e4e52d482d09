//! The pages of a list or a query: pages of one snapshot that follow each other, in one buffer.

use alula::Scratch;
use tokio::time::Instant;

use super::output;
use crate::budget::{Budget, Share, TooSlow};
use crate::engine::{BucketName, Engine, EngineError, IndexRange, Item, KeyRange, Page, Snapshot};
use crate::http::answer::fail::Fail;
use crate::store::Shared;

/// The items of a page.
const ITEMS_MAX: u64 = 1_000;

/// The bytes of a usual page, and of a wide one.
const NARROW_PAGE_BYTES: usize = 16 * 1024;
const PAGE_BYTES: usize = 256 * 1024;

/// The overhead of a page for the places of its items.
const NARROW_ITEMS_BYTES: usize = 16 * 1024;

/// The bytes that are taken before the first read: a page, and the text that is made of it.
const NARROW_BYTES: u64 = (NARROW_PAGE_BYTES + NARROW_ITEMS_BYTES + text_bytes(0)) as u64;

/// The items below which a full page counts as one of long names.
const FEW_ITEMS: usize = 200;

/// The bytes of a name that may be kept beside a page without a charge.
const NAME_BYTES: usize = 1024;

/// The most bytes of JSON for each byte of a name: one that is a control character is `\u0001`.
const ESCAPED: usize = 6;

/// Returns the bytes of the buffer in which items of so many bytes become a text.
const fn text_bytes(longest: usize) -> usize {
    (output::PIECE_BYTES + ESCAPED * longest).next_power_of_two()
}

/// The part of a store that a list or a query reads.
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
///
/// A page, and the text that is made of it, is on a share of the bytes in flight: so much that it is
/// counted with small contents as a rule. Pages of long names are larger while there is room for them, since
/// an engine puts such names in order anew for each page.
pub(crate) struct Pages<'a, S> {
    budget: &'a Budget,
    share: &'a mut Share,
    /// The bytes of the share, some of which may be for other things than pages.
    charged: u64,
    beside: u64,
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
    /// Begins to read a selection, of which at most `items_max` items are wanted. The share gets room for
    /// pages, and for `beside` bytes.
    ///
    /// # Errors
    /// There was no room in time, or whatever the engine fails with.
    pub(crate) async fn begin<E: Engine<Snapshot = S>>(
        shared: &'a Shared<E>,
        (share, beside): (&'a mut Share, u64),
        selection: Selection<'a>,
        items_max: Option<u64>,
        deadline: Instant,
    ) -> Result<Self, Fail> {
        let charged = NARROW_BYTES + beside;
        shared.budget.extend(share, charged, charged, deadline).await?;
        let mut page = Page::new(items_max.map_or(ITEMS_MAX, |most| most.min(ITEMS_MAX)) as usize);
        page.set_bytes_max(NARROW_PAGE_BYTES);
        Ok(Self {
            budget: &shared.budget,
            share,
            charged,
            beside,
            snapshot: shared.engine.snapshot(deadline).await?,
            selection,
            deadline,
            page,
            place: if selection.is_empty() { Place::End } else { Place::Start },
            term: Scratch::lend_within(NAME_BYTES),
            key: Scratch::lend_within(NAME_BYTES),
        })
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

    /// Reads the next page; false after the last one.
    ///
    /// # Errors
    /// [`EngineError::TimedOut`] after the deadline, no room for long names, or whatever the engine fails
    /// with.
    pub(crate) async fn next(&mut self) -> Result<bool, Fail> {
        if self.place == Place::End {
            return Ok(false);
        }
        if Instant::now() >= self.deadline {
            return Err(EngineError::TimedOut.into());
        }
        self.widen();
        self.fill().await?;
        match self.page.items().next_back() {
            Some(last) if !self.page.is_last() => {
                self.place = Place::AfterItem;
                copy(last.term, &mut self.term);
                copy(last.key, &mut self.key);
            }
            _ => self.place = Place::End,
        }
        self.charge().await?;
        // An engine may answer without ever waiting, and results may be rare: others on this thread have
        // their turn.
        tokio::task::yield_now().await;
        Ok(true)
    }

    /// Returns the page that was read last.
    pub(crate) const fn page(&self) -> &Page {
        &self.page
    }

    /// Awaits the sending of a page, which has to keep a pace if it holds room.
    ///
    /// # Errors
    /// It was slow while others waited.
    pub(crate) async fn paced<F: Future>(&self, sending: F) -> Result<F::Output, TooSlow> {
        self.budget.paced(self.share.has_room(), self.charged, sending).await
    }

    /// Takes room for a larger page after one that was full of long names, if there is any.
    fn widen(&mut self) {
        let items = self.page.items().len();
        if self.place != Place::AfterItem || items == 0 || items >= FEW_ITEMS {
            return;
        }
        let bytes = self.beside + (PAGE_BYTES + NARROW_ITEMS_BYTES + text_bytes(self.page.longest())) as u64;
        if bytes <= self.charged || self.budget.grow(self.share, bytes).is_ok() {
            self.charged = self.charged.max(bytes);
            self.page.set_bytes_max(PAGE_BYTES);
        }
    }

    /// Takes room for the page and for its text, if they need more than they have.
    async fn charge(&mut self) -> Result<(), Fail> {
        let names =
            self.term.capacity().max(NAME_BYTES) + self.key.capacity().max(NAME_BYTES) - 2 * NAME_BYTES;
        let held = self.page.capacity_bytes() + text_bytes(self.page.longest()) + names;
        let held = held as u64 + self.beside;
        if held > self.charged {
            self.budget.extend(self.share, held, held, self.deadline).await?;
            self.charged = held;
        }
        Ok(())
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

fn copy(bytes: &[u8], kept: &mut Vec<u8>) {
    kept.clear();
    kept.extend_from_slice(bytes);
}
