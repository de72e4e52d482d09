//! The files that were asked for lately, by the paths they were asked for by.
//!
//! The cache is bounded by one number: a file in memory weighs its bytes and what it takes to describe it,
//! an open one as much as [`OPEN_WEIGHT`] says. The least asked for go first.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use quick_cache::{OptionsBuilder, Weighter, sync::Cache as Map};

use super::entry::{Content, ENTRY_BYTES, Entry};

/// Bytes of everything held.
const WEIGHT_MAX: u64 = 64 * 1024 * 1024;
/// The weight of an open file, which allows 128: a process may have 1024 descriptors by default.
const OPEN_WEIGHT: u64 = 512 * 1024;
/// The weight of any entry, beside its content; it allows 16384 at the most.
const ENTRY_WEIGHT: u64 = ENTRY_BYTES;
/// Parts with a lock each.
const SHARDS: usize = 4;

/// Entries by request path, and a clock.
pub(super) struct Cache {
    map: Map<String, Arc<Entry>, Weight>,
    /// The entries that were evicted while answers are using them: asked for again, they are not made
    /// twice.
    lent: Mutex<HashMap<String, Weak<Entry>>>,
    epoch: Instant,
    fresh_for: Duration,
}

#[derive(Clone)]
struct Weight;

impl Weighter<String, Arc<Entry>> for Weight {
    fn weight(&self, path: &String, entry: &Arc<Entry>) -> u64 {
        let weight = |content: &Content| match content {
            Content::Held(bytes) => bytes.len() as u64,
            Content::Open(_) => OPEN_WEIGHT,
        };
        let content: u64 = entry.forms().map(|form| weight(&form.content)).sum();
        // A path may be spelled in many ways, and long ones.
        ENTRY_WEIGHT + content + 2 * path.len() as u64
    }
}

impl Cache {
    /// Makes an empty cache, in which an entry is believed for so long.
    pub(super) fn new(fresh_for: Duration) -> Self {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity((WEIGHT_MAX / ENTRY_WEIGHT) as usize)
            .weight_capacity(WEIGHT_MAX)
            .build()
            .expect("both capacities are set");
        let map = Map::with_options(options, Weight, Default::default(), Default::default());
        Self { map, lent: Mutex::default(), epoch: Instant::now(), fresh_for }
    }

    /// Returns the cached entry of this path, fresh or not. Allocates nothing.
    pub(super) fn find(&self, path: &str) -> Option<Arc<Entry>> {
        self.map.get(path)
    }

    /// Returns the entry of this path that the cache holds, or only answers that are being sent.
    pub(super) fn find_lent(&self, path: &str) -> Option<Arc<Entry>> {
        self.find(path).or_else(|| self.lent().get(path)?.upgrade())
    }

    fn lent(&self) -> MutexGuard<'_, HashMap<String, Weak<Entry>>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if an entry can be believed without looking at its file.
    pub(super) fn is_fresh(&self, entry: &Entry) -> bool {
        entry.age(self.epoch.elapsed()).is_some_and(|age| age < self.fresh_for)
    }

    /// Returns the present on the clock of entries.
    pub(super) fn clock(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Holds an entry that was loaded just now, if there is room for it.
    pub(super) fn insert(&self, path: &str, entry: &Arc<Entry>) {
        let mut lent = self.lent();
        if lent.len() == lent.capacity() {
            // Before it grows it lets go of what nobody holds.
            lent.retain(|_, entry| entry.strong_count() > 0);
        }
        lent.insert(path.to_owned(), Arc::downgrade(entry));
        drop(lent);
        self.map.insert(path.to_owned(), Arc::clone(entry));
    }

    /// Lets this entry go, if it is still the one that is held.
    pub(super) fn remove(&self, path: &str, entry: &Arc<Entry>) {
        self.lent().remove(path);
        // Another request may have loaded the file anew meanwhile: its entry stays.
        self.map.remove_if(path, |held| Arc::ptr_eq(held, entry));
    }

    /// Lets go of what is held of this path, as for want of room.
    #[cfg(test)]
    pub(super) fn evict(&self, path: &str) {
        self.map.remove(path);
    }
}
