//! Writes to engines and readings of all that they keep, the same for each engine.

use std::time::Duration;

use alula_store::engine::{
    BucketName, Decide, Durability, Engine, EngineError, IndexRange, KeyRange, Mark, ObjectName, Page,
    ReadTerms, Snapshot, Verdict, WriteTerms,
};
use alula_store::model::{Attribute, Content, Context, NewContent, Record, Rules, term, write};
use tokio::time::Instant;

const RULES: Rules =
    Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 30 };

/// A write that replaces what is stored, or stays beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Put {
    pub(crate) attributes: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) is_deleted: bool,
    pub(crate) is_sibling: bool,
}

impl Put {
    pub(crate) fn value(value: impl Into<Vec<u8>>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    pub(crate) fn entry(mut self, field: &[u8], term: &[u8]) -> Self {
        Attribute::BinaryEntry { field, term }.write(&mut self.attributes);
        self
    }
}

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let mut bytes = Vec::new();
        let context = match stored {
            Some(stored) if !self.is_sibling => stored.context(&mut bytes),
            _ => Context::EMPTY,
        };
        let Mark { dot, vtag, now } = mark;
        let Self { attributes, value, is_deleted, .. } = self;
        let new = NewContent { dot, vtag, now, is_deleted: *is_deleted, attributes, value };
        match write(stored, context, &new, &RULES, out) {
            Ok(()) => Verdict::Write,
            Err(_) => Verdict::Keep,
        }
    }

    fn bytes(&self) -> usize {
        self.attributes.len() + self.value.len()
    }
}

/// A write that removes what is stored.
pub(crate) struct Removal;

impl Decide for Removal {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        Verdict::Remove
    }
}

pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(crate) fn read_terms() -> ReadTerms {
    ReadTerms { n: 3, r: 2, pr: 0, node_confirms: 0, notfound_ok: true, basic_quorum: false, deadline: far() }
}

pub(crate) fn write_terms(durability: Durability) -> WriteTerms {
    WriteTerms { n: 3, w: 2, pw: 0, dw: 1, node_confirms: 0, durability, deadline: far() }
}

pub(crate) const BUCKET: BucketName<'static> = BucketName { bucket_type: b"default", bucket: b"b" };

pub(crate) async fn put<E: Engine>(engine: &E, key: &[u8], put: Put) -> Result<(), EngineError> {
    engine.write(BUCKET.object(key), put, &write_terms(Durability::Flushed)).await.map(drop)
}

/// A content without what differs from engine to engine: whether it says that the object was deleted, its
/// attributes and its value.
pub(crate) type Plain = (bool, Vec<u8>, Vec<u8>);

pub(crate) fn plain(bytes: &[u8]) -> Vec<Plain> {
    let one = |content: Content<'_>| {
        let mut attributes = Vec::new();
        for attribute in content.attributes() {
            attribute.expect("whole attributes").write(&mut attributes);
        }
        (content.is_deleted(), attributes, content.value().to_vec())
    };
    let mut contents: Vec<_> = Record::read(bytes).expect("a record").contents().map(one).collect();
    contents.sort();
    contents
}

pub(crate) async fn get<E: Engine>(engine: &E, name: ObjectName<'_>) -> Option<Vec<Plain>> {
    let bytes = engine.get(name, &read_terms()).await.expect("a read");
    bytes.map(|bytes| plain(bytes.as_ref()))
}

/// All keys of a bucket, in pages of so many.
pub(crate) async fn keys<S: Snapshot>(snapshot: &S, bucket: BucketName<'_>, items: usize) -> Vec<Vec<u8>> {
    let (mut page, mut keys) = (Page::new(items), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let after = keys.last().cloned();
        let range = KeyRange { after: after.as_deref(), ..KeyRange::all(bucket) };
        snapshot.keys(range, &mut page, far()).await.expect("a page");
        assert!(page.is_last() || page.items().len() > 0, "a page goes on");
        keys.extend(page.items().map(|item| item.key.to_vec()));
    }
    keys
}

/// All buckets of a type, in pages of so many.
pub(crate) async fn buckets<S: Snapshot>(snapshot: &S, bucket_type: &[u8], items: usize) -> Vec<Vec<u8>> {
    let (mut page, mut buckets) = (Page::new(items), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let after = buckets.last().cloned();
        snapshot.buckets(bucket_type, after.as_deref(), &mut page, far()).await.expect("a page");
        buckets.extend(page.items().map(|item| item.key.to_vec()));
    }
    buckets
}

/// The entries of an index in a range, in pages of so many.
pub(crate) async fn entries<S: Snapshot>(
    snapshot: &S,
    bucket: BucketName<'_>,
    field: &[u8],
    (low, high): (&[u8], &[u8]),
    items: usize,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut page, mut entries) = (Page::new(items), Vec::<(Vec<u8>, Vec<u8>)>::new());
    while !page.is_last() {
        let last = entries.last().cloned();
        let after = last.as_ref().map(|(term, key)| (&term[..], &key[..]));
        let range = IndexRange { bucket, field, low, high, after };
        snapshot.entries(range, &mut page, far()).await.expect("a page");
        entries.extend(page.items().map(|item| (item.term.to_vec(), item.key.to_vec())));
    }
    entries
}

/// The names of objects that read as deleted, in pages of so many.
pub(crate) async fn deleted<S: Snapshot>(snapshot: &S, items: usize) -> Vec<Vec<u8>> {
    let (mut page, mut names) = (Page::new(items), Vec::<Vec<u8>>::new());
    while !page.is_last() {
        let after = names.last().cloned();
        snapshot.deleted(after.as_deref(), &mut page, far()).await.expect("a page");
        names.extend(page.items().map(|item| item.key.to_vec()));
    }
    names
}

/// Checks that the entries of an index and the list of deleted objects are those that the objects of a bucket
/// stand for.
pub(crate) async fn check_entries<S: Snapshot>(snapshot: &S, bucket: BucketName<'_>, field: &[u8]) {
    let (mut expected, mut expected_deleted) = (Vec::new(), Vec::new());
    for key in keys(snapshot, bucket, 100).await {
        let name = bucket.object(&key);
        let bytes = snapshot.get(name, far()).await.expect("a read").expect("a key that was listed");
        let record = Record::read(bytes.as_ref()).expect("a record");
        let mut terms = Vec::new();
        for content in record.contents().filter(|content| !content.is_deleted()) {
            for attribute in content.attributes() {
                let mut bytes = Vec::new();
                if term::of(attribute.expect("whole attributes"), &mut bytes) == Some(field) {
                    terms.push((bytes, key.clone()));
                }
            }
        }
        terms.sort();
        terms.dedup();
        expected.extend(terms);
        if record.is_deleted() {
            let mut encoded = Vec::new();
            name.write(&mut encoded);
            expected_deleted.push(encoded);
        }
    }
    expected.sort();
    assert!(entries(snapshot, bucket, field, (b"", &[255; 9]), 100).await == expected, "entries differ");
    let mut prefix = Vec::new();
    bucket.write(&mut prefix);
    let mut listed = deleted(snapshot, 100).await;
    listed.retain(|name| name.starts_with(&prefix));
    assert!(listed == expected_deleted, "deleted objects differ");
}
