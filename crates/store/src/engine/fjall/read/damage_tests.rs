//! Lists of a folder in which a block of a file is damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::fjall::hidden;
use crate::engine::fjall::tables::Table;
use crate::engine::fjall::*;
use crate::engine::{BucketName, IndexRange, KeyRange, Mark, Page, Snapshot as _, Verdict, layout};
use crate::model::bytes::put_counted;
use crate::model::{Context, NewContent, Record, Rules, write};

const RULES: Rules =
    Rules { allow_mult: false, last_write_wins: true, siblings_max: 100, bytes_max: 1 << 20 };
const BUCKET: BucketName<'static> = BucketName { bucket_type: b"default", bucket: b"b" };
const OBJECTS: u32 = 3_000;

struct Put;

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        // Bytes that a compression does not make shorter.
        let value = &vtag.bits().to_le_bytes().repeat(20);
        let new = NewContent { dot, vtag, now, is_deleted: false, attributes: b"", value };
        write(stored, Context::EMPTY, &new, &RULES, out).expect("a short value");
        Verdict::Write
    }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn key(number: u32) -> Vec<u8> {
    format!("k{number:05}").into_bytes()
}

/// Returns a folder with objects in a file of a table, and the path of the longest file.
async fn filled(folder: &Path) -> PathBuf {
    let engine = Fjall::open(folder, FjallOptions::default()).expect("a new folder");
    let durability = Durability::Buffered;
    let terms = WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability, deadline: far() };
    for number in 0..OBJECTS {
        engine.write(BUCKET.object(&key(number)), Put, &terms).await.expect("a write");
    }
    let tables = engine.shared.tables().expect("open tables");
    hidden::write_out(tables.table(Table::Objects)).expect("a file");
    while tables.table(Table::Objects).sealed_memtable_count() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let files = tables.table(Table::Objects).path().join("tables");
    let files = fs::read_dir(files).expect("the files").map(|file| file.expect("a file").path());
    files.max_by_key(|file| file.metadata().expect("a file").len()).expect("a file")
}

#[tokio::test]
async fn a_damaged_block_fails_the_page_that_needs_it_and_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = filled(folder.path()).await;
    let mut bytes = fs::read(&file).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("a file");

    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("the folder opens");
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let (mut page, mut listed, mut failed) = (Page::new(50), Vec::new(), Vec::new());
    let mut number = 0;
    while !page.is_last() {
        let after = key(number);
        let range = KeyRange { after: Some(&after[..]), ..KeyRange::all(BUCKET) };
        match snapshot.keys(range, &mut page, far()).await {
            Ok(()) => listed.extend(page.items().map(|item| item.key.to_vec())),
            Err(error) => failed.push((after, error)),
        }
        // A client that was given a page may go on behind it.
        number += 50;
        assert!(number < OBJECTS + 100);
    }
    assert!(
        !failed.is_empty() && listed.len() < OBJECTS as usize && listed.len() > 1_000,
        "{}",
        listed.len()
    );
    let (after, error) = &failed[0];
    let text = error.to_string();
    let after = String::from_utf8_lossy(after);
    assert!(text.contains("a block of the table `objects` is damaged, behind `default/b/k0"), "{text}");
    assert!(text.contains(&after[..4]), "{text} after {after}");
    for word in ["Error", "Mismatch", "{", "Storage"] {
        assert!(!text.contains(word), "{text}");
    }
}

#[tokio::test]
async fn a_damaged_block_fails_reads_of_its_objects_and_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = filled(folder.path()).await;
    let mut bytes = fs::read(&file).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("a file");
    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("the folder opens");
    let (mut read, mut texts) = (0, Vec::new());
    for number in 0..OBJECTS {
        let deadline = far();
        let terms = ReadTerms {
            n: 1,
            r: 1,
            pr: 0,
            node_confirms: 0,
            notfound_ok: true,
            basic_quorum: false,
            deadline,
        };
        match engine.get(BUCKET.object(&key(number)), &terms).await {
            Ok(record) => read += u32::from(record.is_some()),
            Err(error) => texts.push(error.to_string()),
        }
    }
    assert!(!texts.is_empty() && read + texts.len() as u32 == OBJECTS, "{read} and {}", texts.len());
    assert!(texts[0].contains("a block of the table `objects` is damaged"), "{}", texts[0]);
}

/// A list that left a name out, or ended there, would look whole.
#[tokio::test]
async fn a_name_that_cannot_be_read_fails_the_list_that_comes_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder");
    let (mut name, mut entry) = (Vec::new(), Vec::new());
    put_counted(BUCKET.bucket_type, &mut name);
    name.extend_from_slice(b"\x05two");
    layout::put_index(BUCKET, b"a_bin", &mut entry);
    entry.extend_from_slice(b"term without an end");
    let tables = engine.shared.tables().expect("open tables");
    tables.table(Table::Objects).insert(name, b"").expect("a row");
    tables.table(Table::Entries).insert(entry, b"").expect("a row");
    drop(tables);
    drop(engine);

    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("the folder opens");
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let mut page = Page::new(50);
    let buckets = snapshot.buckets(b"default", None, &mut page, far()).await;
    assert!(matches!(buckets, Err(EngineError::Unreadable(_))), "{buckets:?}");
    let range = IndexRange { bucket: BUCKET, field: b"a_bin", low: b"", high: b"\xff", after: None };
    let entries = snapshot.entries(range, &mut page, far()).await;
    assert!(matches!(entries, Err(EngineError::Unreadable(_))), "{entries:?}");
    let range = KeyRange::all(BUCKET);
    snapshot.keys(range, &mut page, far()).await.expect("a list of keys before that name");
}

/// The embedded engine takes a folder without the list of its tables for a new one.
#[tokio::test]
async fn a_folder_whose_tables_are_gone_is_not_taken_for_an_empty_one() {
    for gone in ["keyspaces", "keyspaces/0"] {
        let folder = tempfile::tempdir().expect("a folder");
        filled(folder.path()).await;
        let path = folder.path().join("fjall").join(gone);
        fs::rename(&path, folder.path().join("away")).expect("the tables");
        let refused = Fjall::open(folder.path(), FjallOptions::default()).map(drop).expect_err(gone);
        assert!(refused.to_string().contains("its folder `fjall/keyspaces"), "{refused}");
        fs::rename(folder.path().join("away"), &path).expect("the tables");
        let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("the folder opens");
        let snapshot = engine.snapshot(far()).await.expect("a snapshot");
        let mut page = Page::new(50);
        snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await.expect("a page");
        assert_eq!(page.items().count(), 50);
    }
}
