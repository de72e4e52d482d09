//! An engine that keeps everything in memory, for tests, and to measure HTTP without a disk.

mod fullness;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::entry_keys::EntryKeys;
use super::marks::Marks;
use super::{
    BucketName, Decide, Engine, EngineError, IndexRange, Item, KeyRange, Level, ObjectName, Page, ReadTerms,
    Shortage, Snapshot, Verdict, WriteTerms, Written, layout,
};
use crate::long_steps::LongSteps;
use crate::model::{Damaged, Record};
use fullness::Fullness;
pub use fullness::MemoryEvent;

/// The bytes from which on a record is decided outside the lock, and the times that this is tried before the
/// lock is held meanwhile.
const LARGE_BYTES: usize = 256 * 1024;
const TRIES_UNLOCKED: usize = 3;
/// The overhead of a row.
const ROW_BYTES: u64 = 64;

/// The bytes by which records of the same content may differ: later dots are longer.
const SAME_BYTES: u64 = 32;

/// The part of the bound that is left when the engine says that it takes no writes.
const FULL_PART: u64 = 64;

/// Objects in memory. They are gone with it.
#[derive(Debug)]
pub struct Memory {
    kept: Arc<Mutex<Kept>>,
    marks: Marks,
    long_steps: LongSteps,
    on_event: Option<fn(&MemoryEvent)>,
}

/// The maps of the engine. A snapshot reads them as they are when a page is read.
#[derive(Debug)]
struct Kept {
    records: BTreeMap<Vec<u8>, Arc<[u8]>>,
    entries: BTreeSet<Vec<u8>>,
    deleted: BTreeSet<Vec<u8>>,
    settings: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The bytes of records and of rows, and the bound above which writes that grow are refused.
    bytes: u64,
    bytes_max: u64,
    fullness: Fullness,
}

/// A view of a [`Memory`], page by page: a page is of one moment, and two pages may be of two.
#[derive(Debug)]
pub struct MemorySnapshot(Arc<Mutex<Kept>>);

impl Memory {
    /// Creates an empty engine without a bound.
    pub fn new() -> Self {
        Self::bounded(u64::MAX)
    }

    /// Creates an empty engine that holds about so many bytes: those of names, records and index entries, and
    /// 64 for each of them. A write that grows beyond it is [`EngineError::NoRoom`]; deletes and smaller
    /// values are taken.
    pub fn bounded(bytes_max: u64) -> Self {
        let kept = Kept {
            records: BTreeMap::new(),
            entries: BTreeSet::new(),
            deleted: BTreeSet::new(),
            settings: BTreeMap::new(),
            bytes: 0,
            bytes_max,
            fullness: Fullness::new(),
        };
        Self {
            kept: Arc::new(Mutex::new(kept)),
            marks: Marks::new(),
            long_steps: LongSteps::new(),
            on_event: None,
        }
    }

    /// Calls `hear` once when writes that grow begin to be refused, and once when they have been taken again
    /// for five seconds. It runs in the task of a write, so it must not block for long.
    #[must_use]
    pub fn on_event(mut self, hear: fn(&MemoryEvent)) -> Self {
        self.on_event = Some(hear);
        self
    }

    /// Applies a decision, and updates the state of the bound.
    fn carry_out(
        &self,
        mut kept: MutexGuard<'_, Kept>,
        (name, encoded): (ObjectName<'_>, &[u8]),
        stored: Option<Arc<[u8]>>,
        (verdict, out): (Verdict, &[u8]),
    ) -> Result<Option<Arc<[u8]>>, EngineError> {
        let record = kept.carry_out(name, encoded, stored, verdict, out);
        let news = kept.news();
        drop(kept);
        self.tell(news.as_ref());
        record
    }

    fn tell(&self, news: Option<&MemoryEvent>) {
        if let Some((hear, event)) = self.on_event.zip(news) {
            hear(event);
        }
    }

    fn record(&self, name: ObjectName<'_>) -> Option<Arc<[u8]>> {
        record(&self.kept, name)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Memory {
    type Bytes = Arc<[u8]>;
    type Snapshot = MemorySnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Arc<[u8]>>, EngineError> {
        check_confirms(terms.node_confirms)?;
        Ok(self.record(name))
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        mut decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Arc<[u8]>>, EngineError> {
        check_confirms(terms.node_confirms)?;
        let mut encoded = alula::Scratch::lend();
        name.write(&mut encoded);
        let mut out = alula::Scratch::lend();
        for _ in 0..TRIES_UNLOCKED {
            if lock(&self.kept).records.get(&encoded[..]).is_none_or(|stored| stored.len() < LARGE_BYTES) {
                break;
            }
            self.long_steps.wait(terms.deadline).await;
            let stored = lock(&self.kept).records.get(&encoded[..]).cloned();
            let verdict = decide.decide(read(stored.as_ref())?, self.marks.next(), &mut out);
            let kept = lock(&self.kept);
            if is_same(kept.records.get(&encoded[..]), stored.as_ref()) {
                let record = self.carry_out(kept, (name, &encoded), stored, (verdict, &out))?;
                return Ok(Written { decide, record });
            }
        }
        let kept = lock(&self.kept);
        let stored = kept.records.get(&encoded[..]).cloned();
        let verdict = decide.decide(read(stored.as_ref())?, self.marks.next(), &mut out);
        let record = self.carry_out(kept, (name, &encoded), stored, (verdict, &out))?;
        Ok(Written { decide, record })
    }

    async fn snapshot(&self, _: Instant) -> Result<MemorySnapshot, EngineError> {
        Ok(MemorySnapshot(Arc::clone(&self.kept)))
    }

    async fn settings(&self, _: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        Ok(lock(&self.kept).settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, _: Instant) -> Result<(), EngineError> {
        let mut kept = lock(&self.kept);
        match value {
            Some(value) => kept.settings.insert(name.to_vec(), value.to_vec()),
            None => kept.settings.remove(name),
        };
        Ok(())
    }

    fn takes_writes(&self) -> bool {
        let mut kept = lock(&self.kept);
        let takes_writes = kept.bytes < kept.bytes_max - kept.bytes_max / FULL_PART;
        let news = kept.news();
        drop(kept);
        self.tell(news.as_ref());
        takes_writes
    }

    fn label(&self) -> &'static str {
        "memory"
    }
}

fn read(stored: Option<&Arc<[u8]>>) -> Result<Option<Record<'_>>, EngineError> {
    Ok(stored.map(|bytes| Record::read(bytes)).transpose()?)
}

/// Returns true if an object was not written to since the record was read. Its bytes are held, so that no
/// others have their place.
fn is_same(one: Option<&Arc<[u8]>>, other: Option<&Arc<[u8]>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns an estimate of the bytes of a row.
const fn row_bytes(row: &[u8]) -> u64 {
    row.len() as u64 + ROW_BYTES
}

/// Returns an estimate of the bytes of a record and its name; 0 if there is none.
fn record_bytes(name: &[u8], record: Option<&[u8]>) -> u64 {
    record.map_or(0, |record| record.len() as u64 + row_bytes(name))
}

/// Checks `node_confirms`, for which a machine alone counts as one.
pub(super) fn check_confirms(needed: u32) -> Result<(), EngineError> {
    match needed {
        0 | 1 => Ok(()),
        needed => Err(EngineError::Unavailable(Shortage { level: Level::NodeConfirms, got: 1, needed })),
    }
}

impl Kept {
    /// Returns the event for the operator, if there is one.
    fn news(&mut self) -> Option<MemoryEvent> {
        self.fullness.news(self.bytes_max.saturating_sub(self.bytes), self.bytes_max)
    }

    /// Applies a decision, and returns the record that is stored then.
    fn carry_out(
        &mut self,
        name: ObjectName<'_>,
        encoded: &[u8],
        stored: Option<Arc<[u8]>>,
        verdict: Verdict,
        out: &[u8],
    ) -> Result<Option<Arc<[u8]>>, EngineError> {
        let before = || Ok::<_, EngineError>(stored.as_deref().zip(read(stored.as_ref())?));
        match verdict {
            Verdict::Keep => Ok(stored),
            Verdict::Remove => self.replace(name, encoded, before()?, None),
            Verdict::Write => self.replace(name, encoded, before()?, Some(out)),
        }
    }

    /// Puts a record in the place of another, with the entries of its indexes.
    fn replace(
        &mut self,
        name: ObjectName<'_>,
        encoded: &[u8],
        stored: Option<(&[u8], Record<'_>)>,
        after: Option<&[u8]>,
    ) -> Result<Option<Arc<[u8]>>, EngineError> {
        let (stored, before) = stored.unzip();
        let record = after.map(Record::read).transpose()?;
        let (gone, come) = (EntryKeys::of(name, before), EntryKeys::of(name, record));
        let added = come.without(&gone).map(row_bytes).sum::<u64>() + record_bytes(encoded, after);
        let freed = gone.without(&come).map(row_bytes).sum::<u64>() + record_bytes(encoded, stored);
        let bytes = (self.bytes + added).saturating_sub(freed);
        let is_deleted = record.is_some_and(|record| record.is_deleted());
        if added > freed + SAME_BYTES && bytes > self.bytes_max && !is_deleted {
            let free = self.bytes_max.saturating_sub(self.bytes);
            self.fullness.refuse(added - freed, free, self.bytes_max);
            return Err(EngineError::NoRoom);
        }
        self.bytes = bytes;
        gone.without(&come).for_each(|entry| {
            self.entries.remove(entry);
        });
        self.entries.extend(come.without(&gone).map(<[u8]>::to_vec));
        if is_deleted {
            self.deleted.insert(encoded.to_vec());
        } else {
            self.deleted.remove(encoded);
        }
        Ok(match after {
            Some(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                self.records.insert(encoded.to_vec(), Arc::clone(&bytes));
                Some(bytes)
            }
            None => {
                self.records.remove(encoded);
                None
            }
        })
    }
}

impl Snapshot for MemorySnapshot {
    type Bytes = Arc<[u8]>;

    async fn get(&self, name: ObjectName<'_>, _: Instant) -> Result<Option<Arc<[u8]>>, EngineError> {
        Ok(record(&self.0, name))
    }

    async fn keys(&self, range: KeyRange<'_>, page: &mut Page, _: Instant) -> Result<(), EngineError> {
        page.clear();
        let (mut prefix, mut low) = (Vec::new(), Vec::new());
        range.bucket.write(&mut prefix);
        low.extend_from_slice(&prefix);
        low.extend_from_slice(range.after.unwrap_or(range.low));
        let kept = lock(&self.0);
        let keys = kept.records.range::<[u8], _>((start(&low, range.after.is_some()), Bound::Unbounded));
        let keys = keys.map_while(|(name, _)| name.strip_prefix(&prefix[..]));
        let keys = keys.take_while(|key| range.high.is_none_or(|high| *key <= high));
        fill(page, keys.skip_while(|key| *key < range.low).map(|key| Item { term: b"", key }));
        Ok(())
    }

    async fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        _: Instant,
    ) -> Result<(), EngineError> {
        page.clear();
        let kept = lock(&self.0);
        let mut last = after.map(<[u8]>::to_vec);
        loop {
            let mut low = Vec::new();
            match &last {
                Some(bucket) => {
                    BucketName { bucket_type, bucket }.write(&mut low);
                    past(&mut low);
                }
                None => crate::model::bytes::put_counted(bucket_type, &mut low),
            }
            let next = kept.records.range::<[u8], _>((Bound::Included(&low[..]), Bound::Unbounded)).next();
            // All names are written by this process. One that could not be read would fail the list, as in
            // an engine on a folder, and not end it.
            let next = next.map(|(name, _)| ObjectName::read(name).ok_or(Damaged)).transpose()?;
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

    async fn entries(&self, range: IndexRange<'_>, page: &mut Page, _: Instant) -> Result<(), EngineError> {
        page.clear();
        let mut prefix = Vec::new();
        layout::put_index(range.bucket, range.field, &mut prefix);
        let mut low = prefix.clone();
        layout::put_term(range.after.map_or(range.low, |(term, _)| term), &mut low);
        low.extend_from_slice(range.after.map_or(&[][..], |(_, key)| key));
        let kept = lock(&self.0);
        let entries = kept.entries.range::<[u8], _>((start(&low, range.after.is_some()), Bound::Unbounded));
        let mut term = Vec::new();
        for entry in entries.map_while(|entry| entry.strip_prefix(&prefix[..])) {
            let key = layout::read_term(entry, &mut term).ok_or(Damaged)?;
            if &term[..] > range.high {
                break;
            }
            if !page.push(Item { term: &term, key }) {
                return Ok(());
            }
        }
        page.end();
        Ok(())
    }

    async fn deleted(&self, after: Option<&[u8]>, page: &mut Page, _: Instant) -> Result<(), EngineError> {
        page.clear();
        let kept = lock(&self.0);
        let low = after.map_or(Bound::Unbounded, Bound::Excluded);
        let names = kept.deleted.range::<[u8], _>((low, Bound::Unbounded));
        fill(page, names.map(|name| Item { term: b"", key: name }));
        Ok(())
    }
}

/// Returns the low end of a page: after the item that ended the last one, or at the least.
fn start(low: &[u8], is_after: bool) -> Bound<&[u8]> {
    if is_after { Bound::Excluded(low) } else { Bound::Included(low) }
}

/// Turns a prefix of names into the first bytes after all names with that prefix. Names begin with a count,
/// which is never the greatest byte.
pub(super) fn past(prefix: &mut Vec<u8>) {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return;
        }
    }
}

fn fill<'a>(page: &mut Page, items: impl Iterator<Item = Item<'a>>) {
    for item in items {
        if !page.push(item) {
            return;
        }
    }
    page.end();
}

fn record(kept: &Mutex<Kept>, name: ObjectName<'_>) -> Option<Arc<[u8]>> {
    let mut encoded = alula::Scratch::lend();
    name.write(&mut encoded);
    lock(kept).records.get(&encoded[..]).cloned()
}

/// Locks the maps; a writer that panicked left each of them whole.
fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::engine::Durability;
    use crate::long_steps::tests::most_at_once;
    use crate::model::{Context, NewContent, Rules, write};

    const RULES: Rules =
        Rules { allow_mult: false, last_write_wins: true, siblings_max: 100, bytes_max: 1 << 20 };

    /// A value of so many bytes, or none that says that the object was deleted.
    struct Put(Option<usize>);

    impl Decide for Put {
        fn decide(
            &mut self,
            stored: Option<Record<'_>>,
            mark: super::super::Mark,
            out: &mut Vec<u8>,
        ) -> Verdict {
            let super::super::Mark { dot, vtag, now } = mark;
            let value = &vec![7; self.0.unwrap_or(0)];
            let new = NewContent { dot, vtag, now, is_deleted: self.0.is_none(), attributes: b"", value };
            write(stored, Context::EMPTY, &new, &RULES, out).expect("a short value");
            Verdict::Write
        }
    }

    async fn put(engine: &Memory, key: &[u8], bytes: Option<usize>) -> Result<(), EngineError> {
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        let durability = Durability::Buffered;
        let terms = WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline };
        let name = BucketName { bucket_type: b"default", bucket: b"b" }.object(key);
        engine.write(name, Put(bytes), &terms).await.map(drop)
    }

    #[tokio::test]
    async fn a_full_engine_takes_what_does_not_grow() {
        let engine = Memory::bounded(100_000);
        for key in 0..9u8 {
            put(&engine, &[key], Some(10_000)).await.expect("room");
        }
        let refused = put(&engine, b"new", Some(10_000)).await;
        assert!(matches!(refused, Err(EngineError::NoRoom)), "{refused:?}");
        assert!(matches!(put(&engine, &[0], Some(20_000)).await, Err(EngineError::NoRoom)));
        put(&engine, b"new", Some(8_000)).await.expect("room");
        assert!(!engine.takes_writes());
        put(&engine, &[0], Some(10_000)).await.expect("a value of the same length");
        put(&engine, &[0], Some(9_999)).await.expect("a shorter value");
        put(&engine, &[1], None).await.expect("a delete");
        assert!(engine.takes_writes());
        put(&engine, b"newer", Some(9_000)).await.expect("room again");
        for key in (0..9u8).map(|key| vec![key]).chain([b"new".to_vec(), b"newer".to_vec()]) {
            put(&engine, &key, None).await.expect("a delete");
        }
        assert!(lock(&engine.kept).bytes < 11 * 250, "what was deleted is counted");
    }

    /// Changes of large records that come on one connection are polled in one task.
    #[tokio::test]
    async fn others_pass_between_two_changes_of_large_records() {
        static DECIDED: AtomicUsize = AtomicUsize::new(0);

        struct Counted;

        impl Decide for Counted {
            fn decide(&mut self, _: Option<Record<'_>>, _: super::super::Mark, _: &mut Vec<u8>) -> Verdict {
                DECIDED.fetch_add(1, Ordering::Relaxed);
                Verdict::Keep
            }
        }

        let engine = Memory::new();
        put(&engine, b"large", Some(LARGE_BYTES)).await.expect("room");
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        let durability = Durability::Buffered;
        let terms = WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline };
        let name = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"large");
        let changes = (0..40).map(|_| engine.write(name, Counted, &terms)).collect();
        let most = most_at_once(&DECIDED, changes).await;
        assert_eq!(DECIDED.load(Ordering::Relaxed), 40);
        assert!(most <= std::thread::available_parallelism().map_or(1, usize::from), "{most}");
    }

    /// A list that left a name out would look whole.
    #[tokio::test]
    async fn a_name_that_cannot_be_read_fails_the_list_that_comes_to_it() {
        let engine = Memory::new();
        put(&engine, b"k", Some(1)).await.expect("room");
        let bucket = BucketName { bucket_type: b"default", bucket: b"b" };
        let (mut name, mut entry) = (Vec::new(), Vec::new());
        crate::model::bytes::put_counted(bucket.bucket_type, &mut name);
        name.extend_from_slice(b"\x05two");
        layout::put_index(bucket, b"a_bin", &mut entry);
        entry.extend_from_slice(b"term without an end");
        lock(&engine.kept).records.insert(name, Arc::from(&b""[..]));
        lock(&engine.kept).entries.insert(entry);
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        let snapshot = engine.snapshot(deadline).await.expect("a snapshot");
        let mut page = Page::new(50);
        let buckets = snapshot.buckets(b"default", None, &mut page, deadline).await;
        assert!(matches!(buckets, Err(EngineError::Unreadable(_))), "{buckets:?}");
        let range = IndexRange { bucket, field: b"a_bin", low: b"", high: b"\xff", after: None };
        let entries = snapshot.entries(range, &mut page, deadline).await;
        assert!(matches!(entries, Err(EngineError::Unreadable(_))), "{entries:?}");
    }

    static HEARD: Mutex<Vec<MemoryEvent>> = Mutex::new(Vec::new());

    fn heard() -> Vec<MemoryEvent> {
        std::mem::take(&mut HEARD.lock().expect("no panic"))
    }

    #[tokio::test(start_paused = true)]
    async fn an_operator_hears_once_that_it_is_full_and_once_that_it_has_room() {
        let engine =
            Memory::bounded(100_000).on_event(|event| HEARD.lock().expect("no panic").push(event.clone()));
        assert!(matches!(put(&engine, b"long", Some(100_001)).await, Err(EngineError::NoRoom)));
        assert_eq!(heard(), [], "it is too long for an empty engine");
        put(&engine, b"first", Some(60_000)).await.expect("room");
        for _ in 0..1000 {
            assert!(put(&engine, b"second", Some(50_000)).await.is_err());
            put(&engine, b"third", Some(1)).await.expect("room");
        }
        let events = heard();
        let [MemoryEvent::Full { free, bound: 100_000 }] = events[..] else { panic!("{events:?}") };
        assert!((39_000..40_000).contains(&free), "{free}");
        // Room that comes and goes with each request is no news.
        for _ in 0..100 {
            put(&engine, b"first", None).await.expect("a delete");
            put(&engine, b"first", Some(60_000)).await.expect("room");
            assert!(put(&engine, b"second", Some(50_000)).await.is_err());
        }
        put(&engine, b"first", None).await.expect("a delete");
        assert_eq!(heard(), []);
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert!(engine.takes_writes());
        put(&engine, b"second", Some(50_000)).await.expect("room");
        let events = heard();
        assert!(matches!(events[..], [MemoryEvent::HasRoom { .. }]), "{events:?}");
        assert!(put(&engine, b"first", Some(50_000)).await.is_err());
        assert_eq!(heard().len(), 1, "it is full anew");
    }
}
