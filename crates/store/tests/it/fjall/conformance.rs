//! The engine on disk beside the one in memory: the same writes, and all that is read is the same.

use std::sync::Arc;

use crate::support::fjall::{Put, Removal, buckets, deleted, entries, far, get, keys, plain, write_terms};
use alula_store::engine::{
    BucketName, Durability, Engine, Fjall, FjallOptions, KeyRange, Memory, Page, Snapshot,
};
use alula_store::model::Attribute;
use alula_testkit::Rng;
use tokio::sync::Semaphore;

const TYPES: [&[u8]; 2] = [b"default", b"t"];
const FIELDS: [&[u8]; 2] = [b"a_bin", b"n_int"];

/// An object: its type, its bucket and its key.
type Name = (Vec<u8>, Vec<u8>, Vec<u8>);

/// One write of a script.
#[derive(Clone)]
enum Step {
    Put(Name, Put),
    Remove(Name),
    Set(Vec<u8>, Option<Vec<u8>>),
}

/// Names, few enough to be written again. Half of the keys are long: about as long as engine keys may be, or
/// much longer, with a start in common.
fn names(rng: &mut Rng) -> Vec<Name> {
    let long_bucket = vec![b'B'; 5000];
    let buckets: [&[u8]; 4] = [b"b", b"c", b"\0", &long_bucket];
    let name = |_| {
        let key = match rng.below(6) {
            0 | 1 => format!("k{}", rng.below(40)).into_bytes(),
            2 => rng.bytes_of(&[0, 1, 255], 3),
            3 => vec![b'k'; rng.range(4070..4100)],
            4 => [vec![b'k'; 5000], rng.bytes_of(b"ab", 6)].concat(),
            _ => {
                let mut key = vec![b'k'; 65_536];
                let at = rng.range(4000..65_536);
                key[at] = rng.byte();
                key
            }
        };
        (rng.pick(&TYPES).to_vec(), rng.pick(&buckets).to_vec(), key)
    };
    (0..120).map(name).collect()
}

fn attributes(rng: &mut Rng) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..rng.below(4) {
        let number = rng.range(0..40) as i64 - 20;
        Attribute::IntegerEntry { field: b"n_int", term: number.to_string().as_bytes() }.write(&mut out);
    }
    for _ in 0..rng.below(3) {
        let mut term = rng.bytes_of(&[0, 1, b'a', 255], 2);
        if rng.one_in(4) {
            let len = rng.range(1000..30_000);
            term.resize(len, *rng.pick(&[0, b'a']));
            term.extend(rng.bytes_of(b"ab", 1));
        }
        Attribute::BinaryEntry { field: b"a_bin", term: &term }.write(&mut out);
    }
    Attribute::MediaType(b"text/plain").write(&mut out);
    out
}

fn script(seed: u64, steps: usize) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    let names = names(&mut rng);
    let step = |_| match rng.below(20) {
        0 => {
            let name = [rng.bytes_of(b"ab", 2), vec![b's'; *rng.pick(&[0, 5000])]].concat();
            let len = rng.below(5);
            Step::Set(name, (!rng.one_in(3)).then(|| rng.bytes(len)))
        }
        1 | 2 => Step::Remove(rng.pick(&names).clone()),
        _ => {
            let len = if rng.one_in(10) { 20_000 } else { rng.below(50) };
            let (is_deleted, is_sibling) = (rng.one_in(5), rng.one_in(4));
            let put = Put { attributes: attributes(&mut rng), value: rng.bytes(len), is_deleted, is_sibling };
            Step::Put(rng.pick(&names).clone(), put)
        }
    };
    (0..steps).map(step).collect()
}

async fn run<E: Engine>(engine: &E, script: &[Step]) {
    let terms = write_terms(Durability::Buffered);
    for step in script {
        match step {
            Step::Put((bucket_type, bucket, key), put) => {
                let name = BucketName { bucket_type, bucket }.object(key);
                let written = engine.write(name, put.clone(), &terms).await.expect("a write");
                let record = written.record.expect("the record that was written");
                assert_eq!(Some(plain(record.as_ref())), get(engine, name).await, "a write is read at once");
            }
            Step::Remove((bucket_type, bucket, key)) => {
                let name = BucketName { bucket_type, bucket }.object(key);
                engine.write(name, Removal, &terms).await.expect("a removal");
                assert_eq!(get(engine, name).await, None);
            }
            Step::Set(name, value) => engine.set(name, value.as_deref(), far()).await.expect("a setting"),
        }
    }
}

/// Everything that is read, in pages of so many.
async fn all<S: Snapshot>(snapshot: &S, items: usize) -> Vec<(String, Vec<Vec<u8>>)> {
    let mut all = Vec::new();
    for bucket_type in TYPES {
        let buckets = buckets(snapshot, bucket_type, items).await;
        for bucket in &buckets {
            let bucket = BucketName { bucket_type, bucket };
            let keys = keys(snapshot, bucket, items).await;
            for key in &keys {
                let bytes = snapshot.get(bucket.object(key), far()).await.expect("a read").expect("a key");
                let contents = plain(bytes.as_ref()).into_iter().map(|(_, _, value)| value);
                all.push(("object".into(), contents.collect()));
            }
            all.push(("keys".into(), keys));
            for field in FIELDS {
                for range in [(&b""[..], &[255u8; 9][..]), (b"\0", b"a"), (b"aa", b"aa"), (b"b", b"a")] {
                    let entries = entries(snapshot, bucket, field, range, items).await;
                    let entries = entries.into_iter().flat_map(|(term, key)| [term, key]).collect();
                    all.push((format!("entries {range:?}"), entries));
                }
            }
        }
        all.push(("buckets".into(), buckets));
    }
    all.push(("deleted".into(), deleted(snapshot, items).await));
    all
}

/// Compares without printing keys of 64 KiB.
async fn check_equal(one: &impl Engine, other: &impl Engine, items: usize) {
    let one = (one.settings(far()).await, all(&one.snapshot(far()).await.expect("a snapshot"), items).await);
    let other =
        (other.settings(far()).await, all(&other.snapshot(far()).await.expect("a snapshot"), items).await);
    assert_eq!(one.0.expect("settings"), other.0.expect("settings"));
    assert_eq!(one.1.len(), other.1.len());
    for (one, other) in one.1.iter().zip(&other.1) {
        assert_eq!((&one.0, one.1.len()), (&other.0, other.1.len()));
        assert!(one.1 == other.1, "{} differ", one.0);
    }
}

#[tokio::test]
async fn engines_keep_the_same() {
    for (seed, memtable_bytes) in [(1, 32 << 20), (2, 64 << 10)] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = FjallOptions::default();
        options.memtable_bytes = memtable_bytes;
        let script = script(seed, 500);
        let memory = Memory::new();
        run(&memory, &script).await;
        let fjall = Fjall::open(folder.path(), options.clone()).expect("a new folder");
        run(&fjall, &script).await;
        for items in [1, 2, 7, 1000] {
            check_equal(&memory, &fjall, items).await;
        }
        drop(fjall);
        let fjall = Fjall::open(folder.path(), options).expect("the folder again");
        assert_eq!(fjall.cut_tails(), []);
        check_equal(&memory, &fjall, 7).await;
    }
}

#[tokio::test]
async fn many_long_keys_with_a_common_start_are_listed_in_order() {
    const COUNT: usize = 100;
    let folder = tempfile::tempdir().expect("a folder");
    let (fjall, memory) =
        (Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder"), Memory::new());
    let bucket = crate::support::fjall::BUCKET;
    let mut rng = Rng::new(3);
    let mut expected = Vec::new();
    for number in 0..COUNT {
        let mut key = vec![b'x'; 65_536];
        key[60_000..60_004].copy_from_slice(format!("{:04}", (number * 7919) % COUNT).as_bytes());
        let term: [u8; 3] = *rng.pick(&[*b"one", *b"two"]);
        let put = Put::value(number.to_string()).entry(b"a_bin", &term);
        crate::support::fjall::put(&fjall, &key, put.clone()).await.expect("a write");
        crate::support::fjall::put(&memory, &key, put).await.expect("a write");
        expected.push(key);
    }
    expected.sort();
    let snapshot = fjall.snapshot(far()).await.expect("a snapshot");
    assert!(keys(&snapshot, bucket, 1000).await == expected);
    check_equal(&memory, &fjall, 50).await;

    let mut page = Page::new(10);
    let range = KeyRange { low: &expected[20], high: Some(&expected[22]), ..KeyRange::all(bucket) };
    snapshot.keys(range, &mut page, far()).await.expect("a page");
    assert!(page.items().map(|item| item.key).eq(expected[20..=22].iter().map(|key| &key[..])));
    assert!(page.is_last());
}

#[tokio::test]
async fn a_snapshot_does_not_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let fjall = Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder");
    run(&fjall, &script(4, 150)).await;
    let snapshot = fjall.snapshot(far()).await.expect("a snapshot");
    let before = all(&snapshot, 7).await;
    run(&fjall, &script(5, 150)).await;
    assert!(all(&snapshot, 7).await == before);
    let now = fjall.snapshot(far()).await.expect("a snapshot");
    assert!(all(&now, 7).await != before, "the writes are in a later one");
    drop(fjall);
    let mut page = Page::new(1);
    let read = snapshot.keys(KeyRange::all(crate::support::fjall::BUCKET), &mut page, far()).await;
    assert!(read.is_err(), "the engine is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_under_load_hold_no_half_of_a_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = FjallOptions::default();
    // Files are finished all the time.
    options.memtable_bytes = 16 << 10;
    let fjall = Arc::new(Fjall::open(folder.path(), options).expect("a new folder"));
    // Four writes end before a snapshot is made, and four are under way meanwhile.
    let (writes, written) = (Arc::new(Semaphore::new(8)), Arc::new(Semaphore::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4u64 {
        let (fjall, writes, written) = (Arc::clone(&fjall), Arc::clone(&writes), Arc::clone(&written));
        writers.spawn(async move {
            let mut rng = Rng::new(writer);
            while let Ok(write) = writes.acquire().await {
                write.forget();
                let mut put = Put { is_deleted: rng.one_in(5), ..Put::value(rng.bytes(100)) };
                for _ in 0..5 {
                    put = put.entry(b"n_bin", &rng.bytes_of(b"ab", 4));
                }
                let key = [rng.byte() % 20];
                let durability = if rng.one_in(2) { Durability::Flushed } else { Durability::Buffered };
                let name = crate::support::fjall::BUCKET.object(&key);
                fjall.write(name, put, &write_terms(durability)).await.expect("a write");
                written.add_permits(1);
            }
        });
    }
    for _ in 0..3000 {
        written.acquire_many(4).await.expect("writers write").forget();
        let snapshot = fjall.snapshot(far()).await.expect("a snapshot");
        crate::support::fjall::check_entries(&snapshot, crate::support::fjall::BUCKET, b"n_bin").await;
        writes.add_permits(4);
    }
    writes.close();
    writers.join_all().await;
}
