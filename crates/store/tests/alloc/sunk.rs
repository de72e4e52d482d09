//! The engine of memory, which drops what is written to the bucket `none`: what such a write costs is what it
//! costs without the engine.

use alula_store::engine::{
    Decide, Engine, EngineError, Memory, MemorySnapshot, ObjectName, ReadTerms, WriteTerms, Written,
};
use tokio::time::Instant;

/// An engine that keeps all but one bucket.
#[derive(Default)]
pub(super) struct Sunk(Memory);

impl Engine for Sunk {
    type Bytes = <Memory as Engine>::Bytes;
    type Snapshot = MemorySnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Self::Bytes>, EngineError> {
        self.0.get(name, terms).await
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Self::Bytes>, EngineError> {
        if name.bucket.bucket == b"none" {
            return Ok(Written { decide, record: None });
        }
        self.0.write(name, decide, terms).await
    }

    async fn snapshot(&self, deadline: Instant) -> Result<MemorySnapshot, EngineError> {
        self.0.snapshot(deadline).await
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        self.0.settings(deadline).await
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        self.0.set(name, value, deadline).await
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn label(&self) -> &'static str {
        "sunk"
    }
}
