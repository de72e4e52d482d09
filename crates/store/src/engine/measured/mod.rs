//! An engine whose calls are counted and measured.

mod call;
mod counts;
mod metrics;
mod text;

use tokio::time::Instant;

use super::{
    Decide, Engine, EngineError, IndexRange, KeyRange, ObjectName, Page, ReadTerms, Setting, Snapshot,
    WriteTerms, Written,
};
use call::Call;
pub use metrics::EngineMetrics;
use metrics::Measurement;

/// An engine around another one that counts and measures each call, if it is asked to.
///
/// ```
/// use alula_store::engine::{Engine, Measured, Memory};
///
/// let engine = Measured::on(Memory::new());
/// let metrics = engine.metrics().cloned().expect("it measures");
/// assert_eq!(engine.label(), "memory");
/// assert!(metrics.text().starts_with("# HELP store_engine_calls_total "));
/// ```
#[derive(Debug)]
pub struct Measured<E> {
    engine: E,
    metrics: Option<EngineMetrics>,
}

/// A snapshot of a [`Measured`].
#[derive(Debug)]
pub struct MeasuredSnapshot<S> {
    snapshot: S,
    metrics: Option<EngineMetrics>,
}

impl<E: Engine> Measured<E> {
    /// Measures an engine, with metrics that are all zero.
    pub fn on(engine: E) -> Self {
        Self { metrics: Some(EngineMetrics::new(engine.label())), engine }
    }

    /// Passes all calls on without measuring them.
    pub const fn off(engine: E) -> Self {
        Self { engine, metrics: None }
    }

    /// Returns the metrics, if the engine measures.
    pub const fn metrics(&self) -> Option<&EngineMetrics> {
        self.metrics.as_ref()
    }
}

impl<E: Engine> Engine for Measured<E> {
    type Bytes = E::Bytes;
    type Snapshot = MeasuredSnapshot<E::Snapshot>;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Self::Bytes>, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Get);
        measurement.end(self.engine.get(name, terms).await)
    }

    async fn bytes(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<u64, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Bytes);
        measurement.end(self.engine.bytes(name, terms).await)
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Self::Bytes>, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Write);
        measurement.end(self.engine.write(name, decide, terms).await)
    }

    async fn snapshot(&self, deadline: Instant) -> Result<Self::Snapshot, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Snapshot);
        let snapshot = measurement.end(self.engine.snapshot(deadline).await)?;
        Ok(MeasuredSnapshot { snapshot, metrics: self.metrics.clone() })
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<Setting>, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Settings);
        measurement.end(self.engine.settings(deadline).await)
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Set);
        measurement.end(self.engine.set(name, value, deadline).await)
    }

    fn takes_writes(&self) -> bool {
        self.engine.takes_writes()
    }

    fn label(&self) -> &'static str {
        self.engine.label()
    }
}

impl<S: Snapshot> Snapshot for MeasuredSnapshot<S> {
    type Bytes = S::Bytes;

    async fn get(&self, name: ObjectName<'_>, deadline: Instant) -> Result<Option<Self::Bytes>, EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Get);
        measurement.end(self.snapshot.get(name, deadline).await)
    }

    async fn keys(&self, range: KeyRange<'_>, page: &mut Page, deadline: Instant) -> Result<(), EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Keys);
        measurement.end(self.snapshot.keys(range, page, deadline).await)
    }

    async fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Buckets);
        measurement.end(self.snapshot.buckets(bucket_type, after, page, deadline).await)
    }

    async fn entries(
        &self,
        range: IndexRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Entries);
        measurement.end(self.snapshot.entries(range, page, deadline).await)
    }

    async fn deleted(
        &self,
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let measurement = Measurement::begin(self.metrics.as_ref(), Call::Deleted);
        measurement.end(self.snapshot.deleted(after, page, deadline).await)
    }
}
