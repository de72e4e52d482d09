//! The tables of an engine, as the embedded engine keeps them.
//!
//! | table | key | value |
//! | --- | --- | --- |
//! | objects | name | record |
//! | names | name, of long ones only | the whole name |
//! | entries | index, term and key, as in `layout.rs` | the whole entry if it is long |
//! | deleted | name of an object that reads as deleted | the whole name if it is long |
//! | settings | 0; 1 and a name | the mark of the last batch; the name after its length, and the value |
//!
//! Keys are as `keys.rs` has them. fjall applies a batch to its tables after it has written it to its journal
//! and flushed it, if that was asked for. A snapshot that is opened meanwhile may find half of the batch: a
//! file of a table that becomes finished then moves what snapshots show past the number of the batch. All
//! reads are therefore of the *latest* snapshot, which the one thread that writes opens between batches. They
//! find nothing that is less durable than asked, and no half of a batch.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode,
    Readable as _, Slice, Snapshot,
};
use arc_swap::ArcSwap;

use super::errors::unreadable;
use super::failure::UnreadRow;
use super::hidden;
use super::open::journal::MARK_KEY;
use super::open::options::FjallOptions;
use super::read::gaps::Gaps;
use super::read::list_memory::ListMemory;
use super::space::disk::Disk;
use super::write::batch_mark::{BatchMark, FolderId};
use crate::engine::{Durability, EngineError};

/// The bytes from which the value of a record is kept in a file of values.
const SEPARATE_BYTES: u32 = 4 * 1024;

/// The memtables that wait to be written, and the files that wait to be compacted, at which writes wait.
/// fjall itself waits at 4 and 30, without an end if the threads that write them have failed.
const SEALED_MAX: usize = 2;
/// The memtables that may wait when a write comes that fills one by itself: several large ones are not held
/// beside each other.
const SEALED_BEFORE_LARGE_MAX: usize = 1;
const FILES_MAX: usize = 24;

/// The part of a small disk that the journals may take.
const JOURNALS_PART: u64 = 16;
const JOURNALS_MIN: u64 = 64 * 1024 * 1024;
const JOURNALS_MAX: u64 = 512 * 1024 * 1024;

/// The part of a small disk that a memtable has at most, and the bytes that it has at least.
const DISK_PART: u64 = 64;
const MEMTABLE_BYTES_MIN: u64 = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Objects,
    Names,
    Entries,
    Deleted,
    Settings,
}

impl Table {
    pub(super) const ALL: [Self; 5] =
        [Self::Objects, Self::Names, Self::Entries, Self::Deleted, Self::Settings];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::Names => "names",
            Self::Entries => "entries",
            Self::Deleted => "deleted",
            Self::Settings => "settings",
        }
    }

    fn options(self, memtable_bytes: u64) -> KeyspaceCreateOptions {
        let options = KeyspaceCreateOptions::default();
        match self {
            // Values are what users compress themselves or not at all, and are sent as they were read.
            Self::Objects => {
                let values = KvSeparationOptions::default().separation_threshold(SEPARATE_BYTES);
                let values = values.compression(CompressionType::None);
                options.max_memtable_size(memtable_bytes).with_kv_separation(Some(values))
            }
            Self::Entries => options.max_memtable_size(memtable_bytes),
            Self::Names | Self::Deleted | Self::Settings => options.max_memtable_size(memtable_bytes / 8),
        }
    }
}

/// The rows that are kept after a batch, and the number of the batch.
pub(super) struct State {
    snapshot: Snapshot,
    batch: u64,
}

impl State {
    /// Returns the rows.
    pub(super) const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the number of the batch, or 0 if there was none since the tables were opened.
    pub(super) const fn batch(&self) -> u64 {
        self.batch
    }
}

/// The open tables.
pub(super) struct Tables {
    database: Database,
    keyspaces: [Keyspace; Table::ALL.len()],
    latest: ArcSwap<State>,
    gaps: Gaps,
    memtable_bytes: u64,
    list_memory: Arc<ListMemory>,
}

impl Tables {
    pub(super) fn open(path: &Path, options: &FjallOptions) -> ::fjall::Result<Self> {
        // Journals are checked before they are opened: a value that is as it was given takes no time to
        // check.
        let disk_bytes = Disk::of(path.parent().unwrap_or(path)).map_or(u64::MAX, |disk| disk.total);
        let memtable_bytes = options.memtable_bytes.min((disk_bytes / DISK_PART).max(MEMTABLE_BYTES_MIN));
        let database = Database::builder(path)
            .max_journaling_size((disk_bytes / JOURNALS_PART).clamp(JOURNALS_MIN, JOURNALS_MAX))
            .cache_size(options.cache_bytes)
            .journal_compression(CompressionType::None)
            .open()?;
        let open = |table: Table| database.keyspace(table.name(), || table.options(memtable_bytes));
        let [objects, names, entries, deleted, settings] = Table::ALL.map(open);
        let keyspaces = [objects?, names?, entries?, deleted?, settings?];
        let latest = ArcSwap::from_pointee(State { snapshot: database.snapshot(), batch: 0 });
        let gaps = Gaps::new(|table| {
            let keyspace = &keyspaces[table as usize];
            hidden::removals(keyspace) + hidden::rows_in_memory(keyspace) / 2
        });
        Ok(Self { keyspaces, latest, gaps, memtable_bytes, list_memory: Arc::default(), database })
    }

    /// Returns the memory for lists.
    pub(super) const fn list_memory(&self) -> &Arc<ListMemory> {
        &self.list_memory
    }

    /// Returns the state after the last batch.
    pub(super) fn state(&self) -> Arc<State> {
        self.latest.load_full()
    }

    /// Returns the gaps: runs of removed rows that lists pass over.
    pub(super) const fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// Opens the latest snapshot anew, so that files and memory that only the one before needs can be freed.
    /// Only the thread that writes may call this.
    pub(super) fn renew_snapshot(&self) {
        self.publish(self.latest.load().batch);
    }

    fn publish(&self, batch: u64) {
        self.latest.store(Arc::new(State { snapshot: self.database.snapshot(), batch }));
    }

    /// Frees the files and the memory that no open snapshot needs. A `stop` ends it early.
    pub(super) fn give_up_old(&self, stop: &AtomicBool) {
        hidden::give_up_old(&self.database, &self.keyspaces, stop);
    }

    /// Returns the bytes that are in memory and in journals, and in no other file yet.
    pub(super) fn unwritten_bytes(&self) -> u64 {
        hidden::unwritten_bytes(&self.database)
    }

    /// Returns the journals, with the one that is written.
    pub(super) fn journals(&self) -> usize {
        self.database.journal_count()
    }

    /// Returns true if all rows are in files, so that nobody needs the journal.
    pub(super) fn are_in_files(&self) -> bool {
        let is_in_files = |keyspace: &Keyspace| {
            hidden::rows_in_memory(keyspace) == 0 && keyspace.sealed_memtable_count() == 0
        };
        self.journals() == 1 && self.take_batches() && self.keyspaces.iter().all(is_in_files)
    }

    pub(super) fn table(&self, table: Table) -> &Keyspace {
        &self.keyspaces[table as usize]
    }

    /// Returns the value of a row.
    pub(super) fn value(&self, table: Table, key: &[u8]) -> Result<Option<Slice>, EngineError> {
        let at = |error| unreadable(UnreadRow::at(table.name(), key, error));
        self.latest.load().snapshot.get(self.table(table), key).map_err(at)
    }

    /// Returns how long the value of a row is, without reading it; 0 if there is none.
    pub(super) fn bytes(&self, table: Table, key: &[u8]) -> Result<u64, EngineError> {
        let at = |error| unreadable(UnreadRow::at(table.name(), key, error));
        let bytes = self.latest.load().snapshot.size_of(self.table(table), key).map_err(at)?;
        Ok(bytes.unwrap_or(0).into())
    }

    /// Returns the mark of the last batch.
    pub(super) fn last_mark(&self, folder: &FolderId) -> Result<Option<BatchMark>, EngineError> {
        let value = self.value(Table::Settings, &MARK_KEY)?;
        Ok(value.and_then(|value| BatchMark::read(&value, folder)))
    }

    /// Keeps rows and removes those without a value, all or none. Only one thread may call this.
    pub(super) fn commit(
        &self,
        mark: &BatchMark,
        rows: impl Iterator<Item = (Table, Slice, Option<Slice>)>,
        durability: Durability,
    ) -> ::fjall::Result<()> {
        // What is read back needs the bytes of the journal and its length, which is what flushing data
        // means.
        let mode = match durability {
            Durability::Buffered => PersistMode::Buffer,
            Durability::Flushed => PersistMode::SyncData,
        };
        let mut batch = self.database.batch().durability(Some(mode));
        batch.insert(self.table(Table::Settings), MARK_KEY, mark.write());
        self.gaps.begin(mark.number);
        for (table, key, value) in rows {
            match value {
                Some(value) => {
                    // Before the commit: a list that reads the row never finds a gap over it.
                    self.gaps.put(table, &key, mark.number);
                    batch.insert(self.table(table), key, value);
                }
                None => {
                    self.gaps.remove(table);
                    batch.remove(self.table(table), key);
                }
            }
        }
        batch.commit()?;
        self.publish(mark.number);
        Ok(())
    }

    /// Returns true if a batch that begins with so many bytes can be committed without waiting for files to
    /// be written.
    pub(super) fn have_room(&self, bytes: usize) -> bool {
        let is_large = bytes as u64 >= self.memtable_bytes / 2;
        let sealed_max = if is_large { SEALED_BEFORE_LARGE_MAX } else { SEALED_MAX };
        let has_room = |keyspace: &Keyspace| {
            keyspace.sealed_memtable_count() < sealed_max && keyspace.l0_table_count() < FILES_MAX
        };
        self.keyspaces.iter().all(has_room)
    }

    /// Returns true while fjall takes batches: it takes none after a write failed.
    pub(super) fn take_batches(&self) -> bool {
        self.database.persist(PersistMode::Buffer).is_ok()
    }
}
