//! The floor: batches of writes as the store makes them, flushed one after the other, without HTTP and
//! without a merge.

use std::path::Path;
use std::time::{Duration, Instant};

use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

/// The writes of a batch: of one client, of half and of all of 12 and of 64, which is what waits behind a
/// flush and what there is.
const BATCHES: [usize; 5] = [1, 6, 12, 32, 64];

/// The time of each.
const TIME: Duration = Duration::from_secs(2);

/// Bytes of a record with 516 bytes of value and its attributes, and entries of its indexes.
const RECORD: usize = 1000;
const ENTRIES: usize = 16;

/// Prints, for each size of a batch, the size, the writes per second, and the microseconds of a batch.
pub(crate) fn run(folder: &Path) -> fjall::Result<()> {
    let database = Database::builder(folder).journal_compression(CompressionType::None).open()?;
    let objects = database.keyspace("objects", KeyspaceCreateOptions::default)?;
    let entries = database.keyspace("entries", KeyspaceCreateOptions::default)?;
    let mut number = 0;
    for size in BATCHES {
        let (first, start) = (number, Instant::now());
        while start.elapsed() < TIME {
            let mut batch = database.batch().durability(Some(PersistMode::SyncData));
            for _ in 0..size {
                put(&mut batch, &objects, &entries, number);
                number += 1;
            }
            batch.commit()?;
        }
        let writes = (number - first) as f64;
        let seconds = start.elapsed().as_secs_f64();
        println!("{size} {:.0} {:.0}", writes / seconds, seconds * 1e6 * size as f64 / writes);
    }
    Ok(())
}

fn put(batch: &mut fjall::OwnedWriteBatch, objects: &Keyspace, entries: &Keyspace, number: u64) {
    // Objects of many clients: neighbours in time are none in the table.
    let name = format!("\u{7}default\u{7}load-{:02}K{number:08}", number % 64);
    for place in 0..ENTRIES {
        let entry = format!(
            "\u{7}default\u{7}load-{:02}\u{a}field{place}_bin{:08}",
            number % 64,
            number * 7919 % 10_000
        );
        batch.insert(entries, [entry.as_bytes(), name.as_bytes()].concat(), b"");
    }
    batch.insert(objects, name, vec![number as u8; RECORD]);
}
