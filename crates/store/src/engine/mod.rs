//! Engines, which keep the records of objects, the entries of their indexes, and the settings of buckets.
//!
//! Rule 1: an engine knows records and bytes. It knows no HTTP and no property of a bucket; what a write
//! leaves is decided by the
//! [`Decide`] that it is given.
//! Rule 2: a write once begun ends, whether its caller waits for it or not. The engine owns what it decides
//! on.
//! Rule 3: nothing is read before it is as durable as its writer asked for.
//! Rule 4: an answer says what is known. [`EngineError::Unknown`] is the one outcome after which a write may
//! or may not be kept.
//!
//! The trait is made for three kinds: one process with its memory or disk, replicas that agree by quorums,
//! and a table per object on a cluster. A call to an engine of one process ends without waiting for anybody.

mod decide;
mod entry_keys;
mod error;
mod fjall;
mod layout;
mod marks;
mod measured;
mod memory;
mod names;
mod page;
mod ranges;
mod terms;

use std::future::Future;

use tokio::time::Instant;

pub use self::fjall::{CutTail, Fjall, FjallEvent, FjallOpenError, FjallOptions, FjallSnapshot};
pub use decide::{Decide, Mark, Verdict, Written};
pub use error::{EngineError, Level, Shortage};
pub(crate) use layout::RowLength;
pub(crate) use marks::now;
pub use measured::{EngineMetrics, Measured, MeasuredSnapshot};
pub use memory::{Memory, MemoryEvent, MemorySnapshot};
pub use names::{BucketName, ObjectName};
pub use page::{Item, Page};
pub use ranges::{IndexRange, KeyRange};
pub use terms::{Durability, ReadTerms, WriteTerms};

/// The name and the value of a setting.
pub type Setting = (Vec<u8>, Vec<u8>);

/// An engine: it keeps objects, the entries of their indexes, and settings.
pub trait Engine: Send + Sync + 'static {
    /// The bytes of a record, held for as long as a response is sent from them. A clone copies no byte.
    type Bytes: AsRef<[u8]> + Clone + Send + Sync + 'static;

    /// The state of the engine at one moment.
    type Snapshot: Snapshot<Bytes = Self::Bytes>;

    /// Returns the record of an object, or `None` if there is none.
    ///
    /// # Errors
    /// An [`EngineError`]; never [`EngineError::Unknown`].
    fn get(
        &self,
        name: ObjectName<'_>,
        terms: &ReadTerms,
    ) -> impl Future<Output = Result<Option<Self::Bytes>, EngineError>> + Send;

    /// Returns how long the record of an object is, or 0 if there is none. An engine that can tells it
    /// without reading the record.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn bytes(
        &self,
        name: ObjectName<'_>,
        terms: &ReadTerms,
    ) -> impl Future<Output = Result<u64, EngineError>> + Send {
        async move { Ok(self.get(name, terms).await?.map_or(0, |bytes| bytes.as_ref().len() as u64)) }
    }

    /// Calls `decide` with the record of the object and keeps what it leaves, with the entries of its
    /// indexes. Nothing else is written to the object in between. Dropping the future does not stop the
    /// write.
    ///
    /// # Errors
    /// An [`EngineError`].
    fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> impl Future<Output = Result<Written<D, Self::Bytes>, EngineError>> + Send;

    /// Returns a snapshot, to be read in pages.
    ///
    /// # Errors
    /// An [`EngineError`]; never [`EngineError::Unknown`].
    fn snapshot(&self, deadline: Instant)
    -> impl Future<Output = Result<Self::Snapshot, EngineError>> + Send;

    /// Returns all settings, as names and values, in the order of their names. They are read once, at the
    /// start.
    ///
    /// # Errors
    /// An [`EngineError`]; never [`EngineError::Unknown`].
    fn settings(&self, deadline: Instant) -> impl Future<Output = Result<Vec<Setting>, EngineError>> + Send;

    /// Keeps the value of a setting, flushed, or removes it.
    ///
    /// # Errors
    /// An [`EngineError`].
    fn set(
        &self,
        name: &[u8],
        value: Option<&[u8]>,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Returns true while writes are taken.
    fn takes_writes(&self) -> bool;

    /// Returns the name of the engine, for statistics: `memory`, `fjall`.
    fn label(&self) -> &'static str;
}

/// The state of an engine at one moment, read in pages that follow each other.
pub trait Snapshot: Send + Sync + 'static {
    /// The bytes of a record, as [`Engine::Bytes`].
    type Bytes: AsRef<[u8]> + Clone + Send + Sync + 'static;

    /// Returns the record of an object, or `None` if there is none.
    ///
    /// # Errors
    /// An [`EngineError`]; never [`EngineError::Unknown`].
    fn get(
        &self,
        name: ObjectName<'_>,
        deadline: Instant,
    ) -> impl Future<Output = Result<Option<Self::Bytes>, EngineError>> + Send;

    /// Fills a page with keys of a bucket, in the order of their bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn keys(
        &self,
        range: KeyRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Fills a page with the names of the buckets of a type that hold a key, each once, in an order of the
    /// engine; those after `after`, a bucket that an earlier page ended with.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn buckets(
        &self,
        bucket_type: &[u8],
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Fills a page with entries of an index, by their terms and then their keys.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn entries(
        &self,
        range: IndexRange<'_>,
        page: &mut Page,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Fills a page with the [encoded](ObjectName::write) names of objects that read as deleted, in an order
    /// of the engine.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn deleted(
        &self,
        after: Option<&[u8]>,
        page: &mut Page,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;
}
