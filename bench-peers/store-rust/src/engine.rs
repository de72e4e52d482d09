//! fjall, with a thread that writes: all writes that wait become one batch, flushed once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode, Slice,
};
use tokio::sync::oneshot;

/// The most writes of a batch.
const BATCH_MAX: usize = 512;

/// The record that a write leaves, and what became of its index entries.
pub(crate) struct Change {
    pub(crate) record: Vec<u8>,
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) come: Vec<Vec<u8>>,
}

pub(crate) type Decide = Box<dyn FnOnce(Option<&[u8]>) -> Option<Change> + Send>;

struct Write {
    name: Vec<u8>,
    decide: Decide,
    done: oneshot::Sender<bool>,
}

pub(crate) struct Engine {
    tables: Arc<Tables>,
    writes: Sender<Write>,
}

struct Tables {
    database: Database,
    objects: Keyspace,
    entries: Keyspace,
}

impl Engine {
    /// With the settings of the store beside it.
    pub(crate) fn open(folder: &Path) -> fjall::Result<Self> {
        const MIB: u64 = 1024 * 1024;
        let database = Database::builder(folder)
            .cache_size(64 * MIB)
            .journal_compression(CompressionType::None)
            .open()?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(32 * MIB);
        let values = KvSeparationOptions::default().separation_threshold(4096);
        let values = values.compression(CompressionType::None);
        let objects = database.keyspace("objects", || options().with_kv_separation(Some(values)))?;
        let entries = database.keyspace("entries", options)?;
        let tables = Arc::new(Tables { database, objects, entries });
        let (writes, waiting) = mpsc::channel();
        let committing = Arc::clone(&tables);
        std::thread::spawn(move || commit_all(&committing, &waiting));
        Ok(Self { tables, writes })
    }

    pub(crate) fn get(&self, name: &[u8]) -> fjall::Result<Option<Slice>> {
        self.tables.objects.get(name)
    }

    /// Returns false if the write was not kept.
    pub(crate) async fn write(&self, name: Vec<u8>, decide: Decide) -> bool {
        let (done, kept) = oneshot::channel();
        self.writes.send(Write { name, decide, done }).is_ok() && kept.await.unwrap_or(false)
    }

    /// The entries from `low` up to before `high`.
    pub(crate) fn entries(&self, low: &[u8], high: &[u8]) -> fjall::Result<Vec<Slice>> {
        self.tables.entries.range(low..high).map(|row| row.key()).collect()
    }
}

fn commit_all(tables: &Tables, waiting: &Receiver<Write>) {
    while let Ok(first) = waiting.recv() {
        let writes = std::iter::once(first).chain(waiting.try_iter()).take(BATCH_MAX);
        let (mut batch, mut records) = (Batch::new(tables), HashMap::new());
        let mut answers = Vec::new();
        for Write { name, decide, done } in writes {
            match batch.decide(&mut records, name, decide) {
                Some(()) => answers.push(done),
                None => _ = done.send(false),
            }
        }
        let is_kept = batch.inner.commit().is_ok();
        // One who has gone meanwhile needs no answer.
        answers.into_iter().for_each(|done| _ = done.send(is_kept));
    }
}

struct Batch<'t> {
    tables: &'t Tables,
    inner: fjall::OwnedWriteBatch,
}

impl<'t> Batch<'t> {
    fn new(tables: &'t Tables) -> Self {
        Self { tables, inner: tables.database.batch().durability(Some(PersistMode::SyncData)) }
    }

    /// A write of an object that the batch has written before is of the record that this write left.
    fn decide(&mut self, records: &mut HashMap<Vec<u8>, Slice>, name: Vec<u8>, decide: Decide) -> Option<()> {
        let stored = match records.get(&name) {
            Some(record) => Some(record.clone()),
            None => self.tables.objects.get(&name).ok()?,
        };
        let change = decide(stored.as_deref())?;
        let record = Slice::from(change.record);
        change.gone.into_iter().for_each(|entry| self.inner.remove(&self.tables.entries, entry));
        change.come.into_iter().for_each(|entry| self.inner.insert(&self.tables.entries, entry, b""));
        self.inner.insert(&self.tables.objects, &name[..], record.clone());
        records.insert(name, record);
        Some(())
    }
}
