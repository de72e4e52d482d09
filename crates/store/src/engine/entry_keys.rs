//! The entries of the indexes of a record, as the rows of a table name them.

use std::ops::Range;

use super::{ObjectName, layout};
use crate::model::{Record, term};

/// The bytes and entries for which there is room at first: those of an object with sixteen short ones.
const BYTES: usize = 1024;
const ENTRIES: usize = 16;

/// Whole entries in one piece of memory, in order and each once.
pub(super) struct EntryKeys {
    bytes: Vec<u8>,
    entries: Vec<Range<usize>>,
}

impl EntryKeys {
    /// Returns the entries of all contents of an object that do not say that it was deleted.
    pub(super) fn of(name: ObjectName<'_>, record: Option<Record<'_>>) -> Self {
        let Some(record) = record else { return Self { bytes: Vec::new(), entries: Vec::new() } };
        let mut keys = Self { bytes: Vec::with_capacity(BYTES), entries: Vec::with_capacity(ENTRIES) };
        let contents = record.contents().filter(|content| !content.is_deleted());
        let mut bytes = Vec::new();
        for attribute in contents.flat_map(|content| content.attributes()).map_while(Result::ok) {
            if let Some(field) = term::of(attribute, &mut bytes) {
                keys.push(name, field, &bytes);
            }
        }
        keys.sort();
        keys
    }

    fn push(&mut self, name: ObjectName<'_>, field: &[u8], term: &[u8]) {
        let start = self.bytes.len();
        layout::put_index(name.bucket, field, &mut self.bytes);
        layout::put_term(term, &mut self.bytes);
        self.bytes.extend_from_slice(name.key);
        self.entries.push(start..self.bytes.len());
    }

    fn sort(&mut self) {
        let Self { bytes, entries } = self;
        entries.sort_unstable_by(|one, other| bytes[one.clone()].cmp(&bytes[other.clone()]));
        entries.dedup_by(|one, other| bytes[one.clone()] == bytes[other.clone()]);
    }

    /// Returns the entries that are not among those of `others`, in order.
    pub(super) fn without<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = &'a [u8]> {
        let mut others = others.iter().peekable();
        self.iter().filter(move |entry| {
            while others.next_if(|other| other < entry).is_some() {}
            others.peek() != Some(entry)
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| &self.bytes[entry.clone()])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use alula_testkit::Rng;

    use super::*;
    use crate::engine::BucketName;

    const NAME: ObjectName<'_> = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"k");

    /// Entries of few terms, some of them twice.
    fn some(rng: &mut Rng) -> (EntryKeys, BTreeSet<Vec<u8>>) {
        let mut keys = EntryKeys::of(NAME, None);
        for _ in 0..rng.below(12) {
            keys.push(NAME, b"f_bin", &[rng.below(8) as u8]);
        }
        let all = keys.iter().map(<[u8]>::to_vec).collect();
        keys.sort();
        (keys, all)
    }

    #[test]
    fn a_difference_is_that_of_sets() {
        let mut rng = Rng::new(7);
        for _ in 0..500 {
            let ((one, of_one), (other, of_other)) = (some(&mut rng), some(&mut rng));
            let found: Vec<_> = one.without(&other).collect();
            assert!(found.iter().eq(of_one.difference(&of_other).collect::<Vec<_>>().iter()));
        }
    }
}
