//! An engine that drops what is written: a write costs with it what it costs without an engine.

use alula_store::engine::{
    Decide, Engine, EngineError, Memory, MemorySnapshot, ObjectName, ReadTerms, WriteTerms, Written,
};
use tokio::time::Instant;

/// An engine without objects.
#[derive(Default)]
pub(super) struct Sunk(Memory);

impl Engine for Sunk {
    type Bytes = <Memory as Engine>::Bytes;
    type Snapshot = MemorySnapshot;

    async fn get(&self, _: ObjectName<'_>, _: &ReadTerms) -> Result<Option<Self::Bytes>, EngineError> {
        Ok(None)
    }

    async fn write<D: Decide>(
        &self,
        _: ObjectName<'_>,
        decide: D,
        _: &WriteTerms,
    ) -> Result<Written<D, Self::Bytes>, EngineError> {
        Ok(Written { decide, record: None })
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
