//! An engine on a disk that looks full.

use std::sync::Mutex;
use std::time::Duration;

use crate::engine::fjall::*;
use crate::engine::{BucketName, Mark, Verdict};
use crate::model::{Context, NewContent, Record, Rules, write};

const RULES: Rules =
    Rules { allow_mult: false, last_write_wins: true, siblings_max: 100, bytes_max: 1 << 30 };
/// A record whose two copies are longer than what is written between two looks at the disk.
const LONG: usize = 40 * 1024 * 1024;
const BUCKET: BucketName<'static> = BucketName { bucket_type: b"default", bucket: b"b" };

/// A value of so many bytes, or a content that says that the object was deleted.
struct Put(usize, bool);

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let value = &vec![7; self.0];
        let new = NewContent { dot, vtag, now, is_deleted: self.1, attributes: b"", value };
        write(stored, Context::EMPTY, &new, &RULES, out).expect("a short value");
        Verdict::Write
    }
}

async fn put(engine: &Fjall, key: &[u8], bytes: usize) -> Result<(), EngineError> {
    engine.write(BUCKET.object(key), Put(bytes, false), &terms()).await.map(drop)
}

async fn delete(engine: &Fjall, key: &[u8]) -> Result<(), EngineError> {
    engine.write(BUCKET.object(key), Put(0, true), &terms()).await.map(drop)
}

fn terms() -> WriteTerms {
    let deadline = Instant::now() + Duration::from_secs(60);
    WriteTerms { n: 1, w: 1, pw: 0, dw: 1, node_confirms: 0, durability: Durability::Buffered, deadline }
}

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn hear(event: &FjallEvent) {
    HEARD.lock().expect("no panic").push(event.to_string());
}

#[tokio::test]
async fn a_full_disk_takes_what_does_not_grow() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FjallOptions { on_event: Some(hear), ..FjallOptions::default() };
    let engine = Fjall::open(folder.path(), options).expect("a new folder");
    put(&engine, b"large", 1000).await.expect("room");
    put(&engine, b"short", 1).await.expect("room");
    assert!(engine.takes_writes());

    let half_of_the_floor = 130 * 1024 * 1024;
    engine.shared.space.plant(Some(half_of_the_floor));
    for _ in 0..100 {
        for (key, bytes) in [(&b"new"[..], 1), (b"short", 1000)] {
            let refused = put(&engine, key, bytes).await;
            assert!(matches!(refused, Err(EngineError::NoRoom)), "{bytes}: {refused:?}");
        }
    }
    assert!(!engine.takes_writes());
    put(&engine, b"large", 900).await.expect("a shorter value");
    put(&engine, b"large", 900).await.expect("a value of the same length");
    engine.shared.space.plant(Some(1));
    let refused = put(&engine, b"large", 800).await;
    assert!(matches!(refused, Err(EngineError::NoRoom)), "{refused:?}");
    delete(&engine, b"short").await.expect("a delete");
    engine.set(b"name", Some(b"value"), Instant::now() + Duration::from_secs(60)).await.expect("a setting");

    engine.shared.space.plant(None);
    put(&engine, b"new", 1).await.expect("room again");
    assert!(engine.takes_writes());
    let start = Instant::now();
    while HEARD.lock().expect("no panic").len() < 2 {
        assert!(start.elapsed() < Duration::from_secs(60), "room is not told of");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let heard = HEARD.lock().expect("no panic").clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].starts_with("the disk is full") && heard[1].starts_with("the disk has room again"));
}

#[tokio::test]
async fn the_upkeep_finds_room_and_its_end_without_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder");
    for (free, takes_writes) in [(Some(1), false), (None, true)] {
        engine.shared.space.plant(free);
        let start = Instant::now();
        while engine.takes_writes() != takes_writes {
            assert!(start.elapsed() < Duration::from_secs(60), "{free:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_disk_with_room_takes_a_long_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder");
    engine.shared.space.plant(Some(50 * 1024 * 1024 * 1024));
    put(&engine, b"long", LONG).await.expect("room to grow");
    put(&engine, b"long", LONG + 1024).await.expect("room to grow further");
    put(&engine, b"long", LONG).await.expect("room for a shorter one");
    assert!(engine.takes_writes());
}
