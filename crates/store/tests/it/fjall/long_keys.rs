//! Lists of many keys of 4 KiB or more that begin alike, on disk: the rows that are read, and their order.

use crate::support::fjall::{BUCKET, Put, buckets, entries, far, keys, write_terms};
use alula_store::engine::{
    BucketName, Durability, Engine, Fjall, FjallOptions, FjallSnapshot, KeyRange, Page, Snapshot,
};
use alula_testkit::Rng;

/// The bytes that long names have in common and more.
const START: usize = 4_200;

/// An engine with objects of these names, each with an entry of an index.
async fn filled(folder: &tempfile::TempDir, names: &[(&[u8], Vec<u8>)]) -> Fjall {
    let fjall = Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder");
    for (bucket, key) in names {
        let bucket = BucketName { bucket, ..BUCKET };
        let put = Put::value("value").entry(b"a_bin", b"term");
        fjall.write(bucket.object(key), put, &write_terms(Durability::Buffered)).await.expect("a write");
    }
    fjall
}

/// Keys of so many bytes that differ in their last eight, in no order.
fn long_keys(count: usize, bytes: usize) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(7);
    let mut keys: Vec<_> = (0..count)
        .map(|number| {
            let mut key = vec![b'k'; bytes];
            let end = format!("{:04}{number:04}", rng.below(10_000));
            key[bytes - 8..].copy_from_slice(end.as_bytes());
            key
        })
        .collect();
    keys.reverse();
    keys
}

fn in_bucket(keys: &[Vec<u8>]) -> Vec<(&'static [u8], Vec<u8>)> {
    keys.iter().map(|key| (BUCKET.bucket, key.clone())).collect()
}

fn sorted(mut keys: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    keys.sort();
    keys
}

async fn snapshot(fjall: &Fjall) -> FjallSnapshot {
    fjall.snapshot(far()).await.expect("a snapshot")
}

#[tokio::test]
async fn keys_whose_ends_fit_in_memory_are_read_once() {
    const COUNT: usize = 3_000;
    let folder = tempfile::tempdir().expect("a folder");
    let long = long_keys(COUNT, START);
    let fjall = filled(&folder, &in_bucket(&long)).await;
    let expected = sorted(long);
    for items in [20, 1000] {
        let snapshot = snapshot(&fjall).await;
        assert!(keys(&snapshot, BUCKET, items).await == expected, "pages of {items}");
        // A page looks at one row to find the group.
        let pages = COUNT / items.min(40);
        let read = snapshot.rows_read() as usize;
        assert!(read <= COUNT + 2 * pages, "{read} rows in pages of {items}");
    }
}

#[tokio::test]
async fn entries_whose_ends_fit_in_memory_are_read_once() {
    const COUNT: usize = 1_000;
    let folder = tempfile::tempdir().expect("a folder");
    let long = long_keys(COUNT, START);
    let fjall = filled(&folder, &in_bucket(&long)).await;
    let snapshot = snapshot(&fjall).await;
    let found = entries(&snapshot, BUCKET, b"a_bin", (b"term", b"term"), 20).await;
    assert!(found.into_iter().map(|(_, key)| key).eq(sorted(long)));
    let read = snapshot.rows_read() as usize;
    assert!(read <= COUNT + 2 * COUNT / 20, "{read} rows");
}

#[tokio::test]
async fn keys_with_long_ends_are_read_a_few_times() {
    const COUNT: usize = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let long = long_keys(COUNT, 60_000);
    let fjall = filled(&folder, &in_bucket(&long)).await;
    let snapshot = snapshot(&fjall).await;
    assert!(keys(&snapshot, BUCKET, 1000).await == sorted(long));
    // 17 MB, in passes of 1, 2, 4, 8 and 16 MiB; pages have four keys.
    let read = snapshot.rows_read() as usize;
    assert!(read <= 5 * COUNT + 2 * COUNT / 4, "{read} rows");
}

#[tokio::test]
async fn buckets_whose_names_begin_alike_are_read_a_few_times() {
    const COUNT: usize = 200;
    let folder = tempfile::tempdir().expect("a folder");
    let long = long_keys(COUNT, START);
    let names: Vec<_> = long.iter().map(|bucket| (&bucket[..], b"key".to_vec())).collect();
    let fjall = filled(&folder, &names).await;
    let snapshot = snapshot(&fjall).await;
    assert!(buckets(&snapshot, b"default", 10).await == sorted(long.clone()));
    let read = snapshot.rows_read() as usize;
    assert!(read <= 3 * COUNT + 10, "{read} rows");
}

#[tokio::test]
async fn a_list_may_begin_again_and_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = (0..40).map(|number| format!("k{number}").into_bytes());
    let expected = sorted(long_keys(60, START).into_iter().chain(short).chain([b"z".to_vec()]).collect());
    let fjall = filled(&folder, &in_bucket(&expected)).await;
    let snapshot = snapshot(&fjall).await;
    let (mut rng, mut page) = (Rng::new(1), Page::new(7));
    for _ in 0..300 {
        let at = rng.below(expected.len());
        let after = rng.one_in(2).then(|| &expected[at][..]);
        let low = if after.is_some() { &b""[..] } else { &expected[at] };
        let range = KeyRange { low, after, ..KeyRange::all(BUCKET) };
        snapshot.keys(range, &mut page, far()).await.expect("a page");
        let wanted = expected.iter().skip(at + usize::from(after.is_some())).take(7);
        assert!(page.items().map(|item| item.key).eq(wanted.map(|key| &key[..])), "from {at}");
    }
}

#[tokio::test]
async fn lists_go_on_where_all_memory_of_lists_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = long_keys(30, START);
    let fjall = filled(&folder, &in_bucket(&long)).await;
    let expected = sorted(long);
    // Each has a page and goes no further: 64 of them have all of the memory.
    let mut page = Page::new(1);
    let mut begun = Vec::new();
    for _ in 0..70 {
        let snapshot = snapshot(&fjall).await;
        snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await.expect("a page");
        begun.push(snapshot);
    }
    let last = begun.pop().expect("many");
    let before = last.rows_read();
    assert!(keys(&last, BUCKET, 10).await == expected);
    assert!(last.rows_read() - before > 3 * 30, "it had no memory");
    begun.clear();
    let later = snapshot(&fjall).await;
    assert!(keys(&later, BUCKET, 10).await == expected);
    assert!(later.rows_read() < 2 * 30, "it has memory again");
}
