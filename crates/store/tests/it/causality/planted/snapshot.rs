//! The snapshot of an engine with a fault: it has the entries that were left behind.

use std::collections::BTreeSet;
use std::sync::Arc;

use alula_store::engine::{
    Engine, EngineError, IndexRange, Item, KeyRange, Memory, ObjectName, Page, Snapshot,
};
use tokio::time::Instant;

use super::Fault;
use super::faulty::Shared;

/// The state of a faulty engine, with the entries that it left.
#[derive(Debug)]
pub(crate) struct FaultySnapshot {
    inner: <Memory as Engine>::Snapshot,
    shared: Arc<Shared>,
}

impl FaultySnapshot {
    pub(super) const fn new(inner: <Memory as Engine>::Snapshot, shared: Arc<Shared>) -> Self {
        Self { inner, shared }
    }
}

impl Snapshot for FaultySnapshot {
    type Bytes = Arc<[u8]>;

    async fn get(&self, name: ObjectName<'_>, deadline: Instant) -> Result<Option<Arc<[u8]>>, EngineError> {
        self.inner.get(name, deadline).await
    }

    async fn keys(&self, range: KeyRange<'_>, page: &mut Page, deadline: Instant) -> Result<(), EngineError> {
        self.inner.keys(range, page, deadline).await
    }

    async fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.inner.buckets(bucket_type, after, page, deadline).await
    }

    async fn entries(
        &self,
        range: IndexRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        if self.shared.fault != Fault::LeavesEntry {
            return self.inner.entries(range, page, deadline).await;
        }
        let mut all = self.shared.left.lock().expect("no writer panics").clone();
        all.retain(|(bucket, field, ..)| bucket == range.bucket.bucket && field == range.field);
        let mut entries: BTreeSet<_> = all.into_iter().map(|(_, _, term, key)| (term, key)).collect();
        let mut whole = Page::new(10_000);
        self.inner.entries(IndexRange { after: None, ..range }, &mut whole, deadline).await?;
        entries.extend(whole.items().map(|item| (item.term.to_vec(), item.key.to_vec())));
        page.clear();
        let is_after = |term: &[u8], key: &[u8]| range.after.is_none_or(|after| (term, key) > after);
        for (term, key) in entries.iter().filter(|(term, key)| is_after(term, key)) {
            if !page.push(Item { term, key }) {
                return Ok(());
            }
        }
        page.end();
        Ok(())
    }

    async fn deleted(
        &self,
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.inner.deleted(after, page, deadline).await
    }
}
