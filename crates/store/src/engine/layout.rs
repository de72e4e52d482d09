//! The keys under which an engine of one process keeps the entries of indexes.
//!
//! ```text
//! bucket   as in the names of objects
//! index    number of bytes, then the bytes
//! term     its bytes, in which 0 is 0 255, then 0 1
//! key      the rest
//! ```
//!
//! Entries of an index lie together, by their terms and then by their keys: what ends a term is less than any
//! byte in it.

use super::{BucketName, ObjectName};
use crate::model::bytes::{Bytes, counted_len, put_counted};
use crate::model::{Attribute, Record};

const ESCAPED: u8 = 0;
const ZERO: u8 = 255;
const END: u8 = 1;

/// Appends the bytes with which all entries of an index begin.
pub(super) fn put_index(bucket: BucketName<'_>, field: &[u8], out: &mut Vec<u8>) {
    bucket.write(out);
    put_counted(field, out);
}

/// Appends a term and its end.
pub(super) fn put_term(term: &[u8], out: &mut Vec<u8>) {
    for byte in term {
        out.push(*byte);
        if *byte == ESCAPED {
            out.push(ZERO);
        }
    }
    out.extend_from_slice(&[ESCAPED, END]);
}

/// The length of the rows of one object's index entries, each of which has the whole name of the object in
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLength {
    /// The bytes of type, bucket and key, and those that end a term.
    name: u64,
}

impl RowLength {
    /// Measures the part that all rows of an object share.
    pub(crate) const fn of(name: ObjectName<'_>) -> Self {
        let ObjectName { bucket: BucketName { bucket_type, bucket }, key } = name;
        Self { name: counted_len(bucket_type.len()) + counted_len(bucket.len()) + key.len() as u64 + 2 }
    }

    /// Returns the bytes of the row of an attribute, 0 for one that is no entry of an index.
    pub(crate) fn row(self, attribute: Attribute<'_>) -> u64 {
        let (field, term) = match attribute {
            Attribute::BinaryEntry { field, term } => (field, escaped_len(term)),
            // The digits are no zeros, which alone are escaped.
            Attribute::IntegerEntry { field, term } => {
                let digits = term.strip_prefix(b"-").unwrap_or(term);
                let mut start = [u8::from(digits.len() == term.len()), 0, 0, 0, 0];
                start[1..].copy_from_slice(&(digits.len() as u32).to_be_bytes());
                if digits.len() < term.len() {
                    start[1..].iter_mut().for_each(|byte| *byte = !*byte);
                }
                (field, escaped_len(&start) + digits.len() as u64)
            }
            _ => return 0,
        };
        self.name + counted_len(field.len()) + term
    }

    /// Returns the bytes of the rows of all contents that are not marks of deletion; an entry of several
    /// contents counts for each.
    pub(crate) fn rows(self, record: Record<'_>) -> u64 {
        let contents = record.contents().filter(|content| !content.is_deleted());
        let attributes = contents.flat_map(|content| content.attributes()).map_while(Result::ok);
        attributes.map(|attribute| self.row(attribute)).sum()
    }
}

fn escaped_len(term: &[u8]) -> u64 {
    (term.len() + term.iter().filter(|byte| **byte == ESCAPED).count()) as u64
}

/// Writes the term of an entry over `term` and returns its key. The bytes are those after the index.
pub(super) fn read_term<'a>(bytes: &'a [u8], term: &mut Vec<u8>) -> Option<&'a [u8]> {
    term.clear();
    let mut bytes = Bytes::new(bytes);
    loop {
        match bytes.byte()? {
            ESCAPED => match bytes.byte()? {
                ZERO => term.push(0),
                END => return Some(bytes.rest()),
                _ => return None,
            },
            byte => term.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::term;

    #[test]
    fn a_row_has_the_length_that_is_told_before() {
        let long = vec![b'l'; 300];
        let names: [&[u8]; 4] = [b"", b"k", &long[..127], &long];
        let digits = vec![b'1'; 70_000];
        let negative = [b"-", &digits[..256]].concat();
        for (one, other) in names.iter().flat_map(|one| names.map(|other| (*one, other))) {
            let name = BucketName { bucket_type: one, bucket: other }.object(one);
            for attribute in [
                Attribute::BinaryEntry { field: other, term: b"" },
                Attribute::BinaryEntry { field: other, term: b"\0a\0\xff\x01" },
                Attribute::IntegerEntry { field: other, term: b"0" },
                Attribute::IntegerEntry { field: other, term: b"-1" },
                Attribute::IntegerEntry { field: other, term: &digits },
                Attribute::IntegerEntry { field: other, term: &digits[..256] },
                Attribute::IntegerEntry { field: other, term: &negative[..256] },
                Attribute::IntegerEntry { field: other, term: &negative },
            ] {
                let (mut ordered, mut row) = (Vec::new(), Vec::new());
                let field = term::of(attribute, &mut ordered).expect("an entry");
                put_index(name.bucket, field, &mut row);
                put_term(&ordered, &mut row);
                row.extend_from_slice(name.key);
                assert_eq!(RowLength::of(name).row(attribute), row.len() as u64, "{attribute:?}");
            }
            assert_eq!(RowLength::of(name).row(Attribute::Coding(one)), 0);
        }
    }

    #[test]
    fn entries_are_ordered_by_terms_and_then_by_keys() {
        let entries: [(&[u8], &[u8]); 8] = [
            (b"", b"z"),
            (b"\0", b""),
            (b"\0\0", b"a"),
            (b"\0\x01", b""),
            (b"a", b"b"),
            (b"a", b"c"),
            (b"a\0", b"a"),
            (b"ab", b"a"),
        ];
        let kept = entries.map(|(term, key)| {
            let mut out = Vec::new();
            put_term(term, &mut out);
            out.extend_from_slice(key);
            out
        });
        assert!(kept.is_sorted());
        for ((term, key), kept) in entries.iter().zip(&kept) {
            let mut read = Vec::new();
            assert_eq!(read_term(kept, &mut read), Some(*key));
            assert_eq!(read, *term);
        }
    }
}
