//! The state of an engine when all clients have ended: its objects, its lists and its indexes.

use alula_store::engine::{Decide, Engine, EngineError, IndexRange, KeyRange, Mark, Page, Snapshot, Verdict};
use alula_store::model::Record;
use tokio::time::Instant;

use crate::causality::keys::{BUCKETS, Key};
use crate::causality::seen::{LETTER, NUMBER, Seen};
use crate::causality::world::{read_terms, write_terms};

/// The items of a page: few, so that lists have several pages.
const ITEMS: usize = 2;

/// The times that a call which fails is made again.
const ATTEMPTS: usize = 1_000;

/// An entry of an index: its term, as an engine orders it, and its key.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

#[derive(Debug)]
pub(crate) struct Rest {
    /// Each object, by the number of its key.
    pub(crate) objects: Vec<Seen>,
    /// The same, from a snapshot.
    pub(crate) in_snapshot: Vec<Seen>,
    /// The keys of each bucket.
    pub(crate) keys: Vec<Vec<Vec<u8>>>,
    pub(crate) buckets: Vec<Vec<u8>>,
    /// The entries of each index of each bucket.
    pub(crate) entries: Vec<[Vec<Entry>; 2]>,
    /// The encoded names of objects that are deleted.
    pub(crate) deleted: Vec<Vec<u8>>,
}

impl Rest {
    pub(crate) async fn read<E: Engine>(engine: &E) -> Self {
        let mut objects = Vec::new();
        for key in Key::all() {
            insist(async || engine.write(key.name(), Nothing, &write_terms(1)).await).await;
            let bytes = insist(async || engine.get(key.name(), &read_terms(3)).await).await;
            objects.push(Seen::read(bytes.as_ref().map(AsRef::as_ref)));
        }
        let snapshot = insist(async || engine.snapshot(soon()).await).await;
        let mut rest = Self {
            objects,
            in_snapshot: Vec::new(),
            keys: Vec::new(),
            buckets: list_buckets(&snapshot).await,
            entries: Vec::new(),
            deleted: list_deleted(&snapshot).await,
        };
        for key in Key::all() {
            let bytes = snapshot.get(key.name(), soon()).await.expect("a snapshot is read");
            rest.in_snapshot.push(Seen::read(bytes.as_ref().map(AsRef::as_ref)));
        }
        for bucket in 0..BUCKETS.len() {
            rest.keys.push(list_keys(&snapshot, bucket).await);
            let entries = [
                list_entries(&snapshot, bucket, LETTER).await,
                list_entries(&snapshot, bucket, NUMBER).await,
            ];
            rest.entries.push(entries);
        }
        rest
    }
}

async fn list_keys<S: Snapshot>(snapshot: &S, bucket: usize) -> Vec<Vec<u8>> {
    let (mut page, mut keys) = (Page::new(ITEMS), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let range =
            KeyRange { after: keys.last().map(|key| &key[..]), ..KeyRange::all(BUCKETS[bucket].name()) };
        snapshot.keys(range, &mut page, soon()).await.expect("a snapshot is read");
        keys.extend(page.items().map(|item| item.key.to_vec()));
    }
    keys
}

async fn list_buckets<S: Snapshot>(snapshot: &S) -> Vec<Vec<u8>> {
    let (mut page, mut buckets) = (Page::new(ITEMS), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let after = buckets.last().map(|bucket| &bucket[..]);
        snapshot.buckets(b"default", after, &mut page, soon()).await.expect("a snapshot is read");
        buckets.extend(page.items().map(|item| item.key.to_vec()));
    }
    buckets
}

async fn list_deleted<S: Snapshot>(snapshot: &S) -> Vec<Vec<u8>> {
    let (mut page, mut names) = (Page::new(ITEMS), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let after = names.last().map(|name| &name[..]);
        snapshot.deleted(after, &mut page, soon()).await.expect("a snapshot is read");
        names.extend(page.items().map(|item| item.key.to_vec()));
    }
    names
}

async fn list_entries<S: Snapshot>(snapshot: &S, bucket: usize, field: &[u8]) -> Vec<Entry> {
    let (mut page, mut entries) = (Page::new(ITEMS), Vec::<Entry>::new());
    while !page.is_last() {
        let after = entries.last().map(|(term, key)| (&term[..], &key[..]));
        let range = IndexRange { bucket: BUCKETS[bucket].name(), field, low: b"", high: &[255; 8], after };
        snapshot.entries(range, &mut page, soon()).await.expect("a snapshot is read");
        entries.extend(page.items().map(|item| (item.term.to_vec(), item.key.to_vec())));
    }
    entries
}

/// A write of nothing, which ends after the writes before it that nobody waits for any more.
struct Nothing;

impl Decide for Nothing {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        Verdict::Keep
    }
}

/// Makes a call until it is answered: replicas go down and come back.
async fn insist<T>(call: impl AsyncFn() -> Result<T, EngineError>) -> T {
    for _ in 0..ATTEMPTS {
        if let Ok(answer) = call().await {
            return answer;
        }
    }
    panic!("an engine at rest does not answer")
}

fn soon() -> Instant {
    read_terms(1).deadline
}
