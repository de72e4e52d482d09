//! An engine in memory that fails after some pages, and counts what is read of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use alula_store::engine::{
    Decide, Engine, EngineError, IndexRange, KeyRange, Memory, ObjectName, Page, ReadTerms, Snapshot,
    WriteTerms, Written,
};
use alula_store::model::Damaged;
use tokio::time::Instant;

type Bytes = <Memory as Engine>::Bytes;

/// The engine.
pub(crate) struct Broken {
    memory: Memory,
    /// The pages that a snapshot reads before it fails.
    pages_max: usize,
    error: EngineError,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    pages: AtomicUsize,
    snapshots: AtomicUsize,
}

/// A snapshot of it.
pub(crate) struct BrokenSnapshot {
    snapshot: <Memory as Engine>::Snapshot,
    pages_left: AtomicUsize,
    error: EngineError,
    counts: Arc<Counts>,
}

/// A failure that no client is to blame for.
pub(crate) fn unreadable() -> EngineError {
    EngineError::Unreadable(Arc::new(Damaged))
}

impl Broken {
    /// An engine whose snapshots fail after so many pages.
    pub(crate) fn after(pages_max: usize, error: EngineError) -> Self {
        Self { memory: Memory::new(), pages_max, error, counts: Arc::default() }
    }

    /// An engine that does not fail.
    pub(crate) fn never() -> Self {
        Self::after(usize::MAX, EngineError::TimedOut)
    }

    /// The pages that were read.
    pub(crate) fn pages_read(&self) -> usize {
        self.counts.pages.load(SeqCst)
    }

    /// The snapshots that are held.
    pub(crate) fn snapshots_held(&self) -> usize {
        self.counts.snapshots.load(SeqCst)
    }
}

impl Engine for Broken {
    type Bytes = Bytes;
    type Snapshot = BrokenSnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Bytes>, EngineError> {
        self.memory.get(name, terms).await
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Bytes>, EngineError> {
        self.memory.write(name, decide, terms).await
    }

    async fn snapshot(&self, deadline: Instant) -> Result<BrokenSnapshot, EngineError> {
        self.counts.snapshots.fetch_add(1, SeqCst);
        Ok(BrokenSnapshot {
            snapshot: self.memory.snapshot(deadline).await?,
            pages_left: AtomicUsize::new(self.pages_max),
            error: self.error.clone(),
            counts: Arc::clone(&self.counts),
        })
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        self.memory.settings(deadline).await
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        self.memory.set(name, value, deadline).await
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn label(&self) -> &'static str {
        "broken"
    }
}

impl BrokenSnapshot {
    fn begin_page(&self) -> Result<(), EngineError> {
        let left = self.pages_left.load(SeqCst);
        self.pages_left.store(left.checked_sub(1).ok_or_else(|| self.error.clone())?, SeqCst);
        self.counts.pages.fetch_add(1, SeqCst);
        Ok(())
    }
}

impl Drop for BrokenSnapshot {
    fn drop(&mut self) {
        self.counts.snapshots.fetch_sub(1, SeqCst);
    }
}

impl Snapshot for BrokenSnapshot {
    type Bytes = Bytes;

    async fn get(&self, name: ObjectName<'_>, deadline: Instant) -> Result<Option<Bytes>, EngineError> {
        self.snapshot.get(name, deadline).await
    }

    async fn keys(&self, range: KeyRange<'_>, page: &mut Page, deadline: Instant) -> Result<(), EngineError> {
        self.begin_page()?;
        self.snapshot.keys(range, page, deadline).await
    }

    async fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.begin_page()?;
        self.snapshot.buckets(bucket_type, after, page, deadline).await
    }

    async fn entries(
        &self,
        range: IndexRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.begin_page()?;
        self.snapshot.entries(range, page, deadline).await
    }

    async fn deleted(
        &self,
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.snapshot.deleted(after, page, deadline).await
    }
}
