//! The calls of fjall that its documentation hides, all of them: its version is pinned, and a test of each
//! fails if it does something else.

use std::sync::atomic::{AtomicBool, Ordering};

use ::fjall::{AbstractTree as _, AnyTree, Database, Keyspace};

/// The snapshots that fjall opens before it looks for the oldest open one.
const SNAPSHOTS_PER_LOOK: usize = 10_000;

/// Returns the number of rows in files that mark a removed row.
pub(super) fn removals(keyspace: &Keyspace) -> u64 {
    keyspace.tree.tombstone_count()
}

/// Returns the number of rows in memory alone, marks of removed rows included.
pub(super) fn rows_in_memory(keyspace: &Keyspace) -> u64 {
    keyspace.tree.active_memtable().len() as u64
}

/// Returns the bytes of the files of rows, without those of values: what a compaction may write anew.
pub(super) fn row_bytes(keyspace: &Keyspace) -> u64 {
    match &keyspace.tree {
        AnyTree::Standard(tree) => tree.disk_space(),
        AnyTree::Blob(tree) => tree.index.disk_space(),
    }
}

/// Returns the bytes that are in journals and in memory, and in no other file yet.
pub(super) fn unwritten_bytes(database: &Database) -> u64 {
    database.write_buffer_size()
}

/// Has a thread of fjall write what is in memory to a file.
pub(super) fn write_out(keyspace: &Keyspace) -> ::fjall::Result<()> {
    keyspace.rotate_memtable().map(drop)
}

/// Writes all rows of a table anew, without those that were removed. Waits until that is done. Files of
/// values of which none is left go with the compaction after the one that finds it out.
pub(super) fn compact(keyspace: &Keyspace) -> ::fjall::Result<()> {
    keyspace.major_compact()?;
    if keyspace.fragmented_blob_bytes() == 0 { Ok(()) } else { keyspace.major_compact() }
}

/// Has fjall look for the oldest snapshot that is open, and gives up the files that only older ones needed. A
/// `stop` ends it early.
pub(super) fn give_up_old(database: &Database, keyspaces: &[Keyspace], stop: &AtomicBool) {
    for _ in 0..SNAPSHOTS_PER_LOOK {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        drop(database.snapshot());
    }
    let oldest = database.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
    for keyspace in keyspaces {
        // Files that cannot be removed now are removed later, or at the next opening.
        let _ = keyspace.tree.get_version_history_lock().maintenance(keyspace.path(), oldest);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ::fjall::KeyspaceCreateOptions;

    use super::*;

    /// Returns a table with rows of which the half was removed.
    fn half_removed(folder: &tempfile::TempDir) -> (Database, Keyspace) {
        let database = Database::builder(folder.path()).open().expect("a new folder");
        let keyspace = database.keyspace("rows", KeyspaceCreateOptions::default).expect("a table");
        for number in 0..200u32 {
            keyspace.insert(number.to_be_bytes(), [1; 100]).expect("a row");
        }
        for number in 0..100u32 {
            keyspace.remove(number.to_be_bytes()).expect("a row");
        }
        (database, keyspace)
    }

    fn write_out_and_wait(keyspace: &Keyspace) {
        write_out(keyspace).expect("a file");
        for _ in 0..6_000 {
            if keyspace.sealed_memtable_count() == 0 {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        panic!("no file is written");
    }

    #[test]
    fn rows_in_memory_get_to_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, keyspace) = half_removed(&folder);
        assert!(unwritten_bytes(&database) > 200 * 100);
        assert_eq!((rows_in_memory(&keyspace), removals(&keyspace), row_bytes(&keyspace)), (300, 0, 0));
        write_out_and_wait(&keyspace);
        assert_eq!(rows_in_memory(&keyspace), 0);
        assert!(removals(&keyspace) == 100 && row_bytes(&keyspace) > 1_000);
    }

    #[test]
    fn removed_rows_go_unless_a_snapshot_needs_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, keyspace) = half_removed(&folder);
        let never = AtomicBool::new(false);
        let snapshot = database.snapshot();
        keyspace.remove(150u32.to_be_bytes()).expect("a row");
        write_out_and_wait(&keyspace);
        give_up_old(&database, std::slice::from_ref(&keyspace), &never);
        compact(&keyspace).expect("a compaction");
        assert!(::fjall::Readable::contains_key(&snapshot, &keyspace, 150u32.to_be_bytes()).expect("a read"));
        drop(snapshot);
        give_up_old(&database, std::slice::from_ref(&keyspace), &never);
        compact(&keyspace).expect("a compaction");
        assert_eq!((removals(&keyspace), keyspace.approximate_len()), (0, 99));
        assert_eq!(keyspace.len().expect("rows"), 99);
    }
}
