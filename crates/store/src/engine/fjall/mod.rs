//! The durable engine of one process, on the embedded engine fjall.
//!
//! A write waits in a [bounded queue](queue) for the [one thread](committer) that writes. What one write
//! changes, the record with its entries, is kept by one batch, whole or not at all; so are the writes that
//! waited together. fjall writes a batch to its journal, flushes it if any write asked for it, and only then
//! applies it to its [tables](tables): nothing is read before it is as durable as asked. Reads are made on
//! the caller's thread, each of one moment. The [upkeep](upkeep) has removed rows go from the files.
//!
//! Writes of large objects are decided [apart](apart), so that others pass them.
//!
//! The [folder](folder) opens once at a time. At its opening [journals are read](tail), and what was not
//! answered as flushed and is not whole is cut and kept aside. docs/store-format.md has the format.

mod errors;
mod event;
mod failure;
mod faults;
mod hidden;
mod keys;
pub(crate) mod open;
pub(crate) mod read;
mod shared;
pub(crate) mod space;
mod stop;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use ::fjall::{Readable as _, Slice};
use tokio::time::Instant;

use super::memory::check_confirms;
use super::{Decide, Durability, Engine, EngineError, ObjectName, ReadTerms, WriteTerms, Written};
use errors::not_read;
use event::Tell;
use open::folder::Folder;
use open::opening::Opened;
use shared::Shared;
use space::free::Space;
use space::upkeep::Upkeep;
use tables::{Table, Tables};
use write::committer::Committer;
use write::slot::Work;
use write::work::{ObjectWrite, SettingWrite, read_setting};

pub use event::FjallEvent;
pub use open::open_error::FjallOpenError;
pub use open::options::FjallOptions;
pub use open::tail::CutTail;
pub use read::snapshot::FjallSnapshot;

/// An engine that keeps objects in a folder.
///
/// - One write more than the queue takes is [`EngineError::Busy`] at once; one for whose bytes the queue has
///   no room waits for it. A write whose deadline passes before it is begun is [`EngineError::TimedOut`] and
///   is not written; once begun it ends, whether anybody waits for it or not.
/// - A write that fails on the disk is [`EngineError::Unknown`]. From then on writes are
///   [`EngineError::WritesRefused`] and reads go on, until the disk takes writes again and the engine has
///   opened the folder anew, by itself and with a new actor. Reads wait for that moment, five seconds at
///   most; then, and on snapshots that were taken before, they are [`EngineError::Reopening`].
/// - A write that grows is [`EngineError::NoRoom`] while the disk is full; others are taken.
/// - A panic in [`Decide::decide`] is one of the caller that waits for the write, which is not written; the
///   engine goes on.
///
/// Dropping it waits for the writes that are queued.
///
/// ```
/// use alula_store::engine::{Fjall, FjallOptions};
///
/// let folder = tempfile::tempdir()?;
/// let engine = Fjall::open(folder.path(), FjallOptions::default())?;
/// assert!(Fjall::open(folder.path(), FjallOptions::default()).is_err(), "it is open already");
/// # drop(engine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fjall {
    shared: Arc<Shared>,
    committer: Option<JoinHandle<()>>,
    helpers: Vec<JoinHandle<()>>,
    upkeep: Option<Upkeep>,
}

impl Fjall {
    /// Opens a folder, which is made if there is none. Reads its journals, which may take a second.
    ///
    /// # Errors
    /// A [`FjallOpenError`].
    pub fn open(path: impl AsRef<Path>, options: FjallOptions) -> Result<Self, FjallOpenError> {
        let folder = Folder::open(path.as_ref())?;
        // A reserve that is given up on a full disk makes room for the opening.
        let space = Space::open(folder.path(), options.reserve, Tell(options.on_event));
        let Opened { tables, marks, last_batch, cut } =
            open::opening::open(&folder, &options).or_else(|error| {
                space.hear_of_failure(&error);
                if space.is_full() { open::opening::open(&folder, &options) } else { Err(error) }
            })?;
        let shared = Arc::new(Shared::new(folder, options, space, tables, cut));
        let upkeep = Upkeep::begin(Arc::clone(&shared));
        let failed = FjallOpenError::at(shared.folder.path());
        let (jobs, helpers) = write::helpers::start(&shared).map_err(failed)?;
        let committer = Committer::new(Arc::clone(&shared), jobs, marks, last_batch);
        let thread = Builder::new().name("alula-store-write".into());
        let thread = thread.spawn(|| committer.run()).map_err(FjallOpenError::at(shared.folder.path()))?;
        let mut engine = Self { shared, committer: Some(thread), helpers, upkeep: None };
        engine.upkeep = Some(upkeep.start().map_err(FjallOpenError::at(engine.shared.folder.path()))?);
        Ok(engine)
    }

    /// Returns the damaged ends of journals that were cut off since the folder was opened, for an operator.
    pub fn cut_tails(&self) -> Vec<CutTail> {
        self.shared.cut()
    }

    async fn submit<W: Work>(
        &self,
        work: W,
        bytes: usize,
        durability: Durability,
        deadline: Instant,
    ) -> Result<W::Done, EngineError> {
        let room = self.shared.queue.reserve(bytes, deadline).await?;
        let (slot, answer) = write::slot::new(work, room, durability, deadline);
        self.shared.queue.push(slot)?;
        answer.wait().await
    }
}

impl Engine for Fjall {
    type Bytes = Slice;
    type Snapshot = FjallSnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Slice>, EngineError> {
        check_confirms(terms.node_confirms)?;
        let (mut whole, mut folded) = (alula::Scratch::lend(), alula::Scratch::lend());
        name.write(&mut whole);
        self.shared
            .tables_to_read(terms.deadline)
            .await?
            .value(Table::Objects, keys::fold(&whole, &mut folded))
    }

    async fn bytes(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<u64, EngineError> {
        check_confirms(terms.node_confirms)?;
        let (mut whole, mut folded) = (alula::Scratch::lend(), alula::Scratch::lend());
        name.write(&mut whole);
        self.shared
            .tables_to_read(terms.deadline)
            .await?
            .bytes(Table::Objects, keys::fold(&whole, &mut folded))
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Slice>, EngineError> {
        check_confirms(terms.node_confirms)?;
        let mut encoded = Vec::new();
        name.write(&mut encoded);
        let bytes = encoded.len() + decide.bytes();
        let write = ObjectWrite::new(encoded, decide);
        self.submit(write, bytes, terms.durability, terms.deadline).await
    }

    async fn snapshot(&self, deadline: Instant) -> Result<FjallSnapshot, EngineError> {
        Ok(FjallSnapshot::new(&self.shared.tables_to_read(deadline).await?))
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        let tables = self.shared.tables_to_read(deadline).await?;
        let mut settings = Vec::new();
        for row in tables.state().snapshot().iter(tables.table(Table::Settings)) {
            let (key, row) = row.into_inner().map_err(not_read)?;
            settings.extend(read_setting(&key, &row).transpose()?);
        }
        settings.sort();
        Ok(settings)
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        let bytes = name.len() + value.map_or(0, <[u8]>::len);
        self.submit(SettingWrite::new(name, value), bytes, Durability::Flushed, deadline).await
    }

    fn takes_writes(&self) -> bool {
        !self.shared.queue.refuses() && !self.shared.space.is_full()
    }

    fn label(&self) -> &'static str {
        "fjall"
    }
}

impl Drop for Fjall {
    fn drop(&mut self) {
        // It waits for the thread that writes.
        drop(self.upkeep.take());
        self.shared.queue.close();
        if let Some(committer) = self.committer.take() {
            // A panic of it has been answered by those who waited.
            let _ = committer.join();
        }
        // They end after it, and catch their panics.
        for helper in self.helpers.drain(..) {
            let _ = helper.join();
        }
        if let Some(tables) = self.shared.tables.swap(None) {
            end(&self.shared, tables);
        }
    }
}

/// Closes the tables, and empties the journal if they do not need it and no list is being read.
fn end(shared: &Shared, tables: Arc<Tables>) {
    let are_in_files = tables.are_in_files();
    let Some(tables) = Arc::into_inner(tables) else { return };
    // A lock that a panic has poisoned makes fjall panic again.
    let is_closed = catch_unwind(AssertUnwindSafe(|| drop(tables))).is_ok();
    if is_closed && are_in_files {
        // A journal that stays is read again.
        let _ = open::tail::empty(&shared.folder);
    }
}

impl std::fmt::Debug for Fjall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fjall").field("folder", &self.shared.folder.path()).finish_non_exhaustive()
    }
}
