//! Lists and indexes agree with the objects at rest.

use std::fmt::Debug;

use alula_store::model::{Attribute, term};

use super::{Rule, Violation};
use crate::causality::keys::{BUCKETS, Key};
use crate::causality::rest::{Entry, Rest};
use crate::causality::seen::{Id, LETTER, NUMBER, Seen, letter, number};

pub(super) fn check(rest: &Rest) -> Result<(), Violation> {
    expect("a snapshot", &rest.in_snapshot, &rest.objects)?;
    for (number, bucket) in BUCKETS.iter().enumerate() {
        let keys: Vec<_> = Key::all().filter(|key| key.bucket().name() == bucket.name()).collect();
        check_keys(rest, number, &keys)?;
        for (field, listed) in [LETTER, NUMBER].into_iter().zip(&rest.entries[number]) {
            let mut entries: Vec<Entry> = keys.iter().flat_map(|key| entries(rest, *key, field)).collect();
            entries.sort();
            entries.dedup();
            expect("an index", listed, &entries)?;
        }
    }
    check_buckets(rest)?;
    let mut deleted: Vec<_> = Key::all().filter(|key| object(rest, *key).is_deleted()).map(encoded).collect();
    deleted.sort();
    let mut listed = rest.deleted.clone();
    listed.sort();
    expect("the list of deleted objects", &listed, &deleted)
}

/// Riak §3.5: lists may show the key of a deleted object until it is reaped.
fn check_keys(rest: &Rest, bucket: usize, keys: &[Key]) -> Result<(), Violation> {
    let listed = &rest.keys[bucket];
    let of = |is_shown: fn(&Seen) -> bool| {
        let keys = keys.iter().filter(|key| is_shown(object(rest, **key)));
        let mut keys: Vec<_> = keys.map(|key| key.name().key.to_vec()).collect();
        keys.sort();
        keys
    };
    let least = of(|seen| !seen.contents.is_empty() && !seen.is_deleted());
    let most = of(|seen| !seen.contents.is_empty());
    let between: Vec<_> =
        most.iter().filter(|key| listed.contains(key) || least.contains(key)).cloned().collect();
    expect("a list of keys", listed, &between)
}

fn check_buckets(rest: &Rest) -> Result<(), Violation> {
    for (number, bucket) in BUCKETS.iter().enumerate() {
        let listed = rest.buckets.iter().filter(|listed| **listed == bucket.name().bucket).count();
        expect("the list of buckets", &listed, &usize::from(!rest.keys[number].is_empty()))?;
    }
    Ok(())
}

/// The entries of an index that an object stands for.
fn entries(rest: &Rest, key: Key, field: &[u8]) -> Vec<Entry> {
    let live = object(rest, key).contents.iter().filter(|given| !given.is_deleted);
    live.map(|given| (ordered(field, given.id), key.name().key.to_vec())).collect()
}

/// The term of a write, in order.
fn ordered(field: &[u8], id: Id) -> Vec<u8> {
    let (mut out, number) = (Vec::new(), number(id));
    let entry = match field == LETTER {
        true => Attribute::BinaryEntry { field, term: letter(id) },
        false => Attribute::IntegerEntry { field, term: number.as_bytes() },
    };
    term::of(entry, &mut out).expect("an entry of an index");
    out
}

fn object(rest: &Rest, key: Key) -> &Seen {
    &rest.objects[key.number()]
}

fn encoded(key: Key) -> Vec<u8> {
    let mut out = Vec::new();
    key.name().write(&mut out);
    out
}

fn expect<T: Debug + PartialEq>(what: &str, listed: &T, expected: &T) -> Result<(), Violation> {
    match listed == expected {
        true => Ok(()),
        false => Err(Rule::Lists.broken(format!("{what} is {listed:?}, and objects say {expected:?}"))),
    }
}
