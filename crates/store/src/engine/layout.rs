//! The keys under which an engine of one process keeps the entries of indexes.
//!
//! ```text
//! bucket   as in the names of objects
//! index    number of octets, then the octets
//! term     its octets, in which 0 is 0 255, then 0 1
//! key      the rest
//! ```
//!
//! Entries of an index lie together, by their terms and then by their keys: what ends a term is less than any octet in it.

use super::BucketName;
use crate::model::octets::{Octets, put_counted};

const ESCAPED: u8 = 0;
const ZERO: u8 = 255;
const END: u8 = 1;

/// Appends that with which all entries of an index begin.
pub(super) fn put_index(bucket: BucketName<'_>, field: &[u8], out: &mut Vec<u8>) {
    bucket.write(out);
    put_counted(field, out);
}

/// Appends a term and its end.
pub(super) fn put_term(term: &[u8], out: &mut Vec<u8>) {
    for octet in term {
        out.push(*octet);
        if *octet == ESCAPED {
            out.push(ZERO);
        }
    }
    out.extend_from_slice(&[ESCAPED, END]);
}

/// Writes the term of an entry over `term` and returns its key. The octets are those after the index.
pub(super) fn read_term<'a>(octets: &'a [u8], term: &mut Vec<u8>) -> Option<&'a [u8]> {
    term.clear();
    let mut octets = Octets::new(octets);
    loop {
        match octets.octet()? {
            ESCAPED => match octets.octet()? {
                ZERO => term.push(0),
                END => return Some(octets.rest()),
                _ => return None,
            },
            octet => term.push(octet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
