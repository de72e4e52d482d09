//! The entries of indexes that a request stores, within the bytes that their rows may take.
//!
//! Rule: entries of one index lie together and are there once, so that a response shows each index as one
//! list.

use std::collections::BTreeSet;

use alula::{FieldSection, Scratch};

use super::one::INDEX;
use super::same_name;
use crate::engine::RowLength;
use crate::http::answer::fail::{Cut, Fail};
use crate::model::{Attribute, Attributes, term};

/// The bytes that the rows of one content's entries may take: type, bucket, index, term and key for each.
/// They are many times those of the fields where names are long.
pub(super) const CONTENT_ROWS_MAX: u64 = 256 * 1024;

/// Appends the entries of all indexes, each index at the place of its first field, and returns the bytes that
/// their rows take. No more is appended than the rows may take.
///
/// # Errors
/// 400 for an index of no kind, for a number that is none, and for rows of more than [`CONTENT_ROWS_MAX`].
pub(super) fn put(headers: &FieldSection, row: RowLength, out: &mut Vec<u8>) -> Result<u64, Fail> {
    let (mut rows, mut number) = (Rows { row, bytes: 0 }, Scratch::lend());
    same_name::each(headers, INDEX, |index, values| {
        let (kind, mut there) = (Kind::of(index)?, There::from(out.len()));
        for value in values {
            for term in terms(value) {
                let term = kind.normal(index, term, &mut number)?;
                put_entry(kind.entry(index, term), term, &mut there, &mut rows, out);
            }
        }
        Ok(())
    })?;
    match rows.bytes > CONTENT_ROWS_MAX {
        true => Err(rows.refused()),
        false => Ok(rows.bytes),
    }
}

/// The rows of the entries so far.
struct Rows {
    row: RowLength,
    bytes: u64,
}

impl Rows {
    /// Counts a new entry, and returns true if it may be kept. Beyond the bound all are counted, for the text
    /// of the answer.
    fn count(&mut self, entry: Attribute<'_>) -> bool {
        self.bytes += self.row.row(entry);
        self.bytes <= CONTENT_ROWS_MAX
    }

    fn refused(&self) -> Fail {
        Fail::bad_request(format!(
            "The rows of the index entries would take {} bytes, each with type, bucket, index, term and key, and {CONTENT_ROWS_MAX} are allowed\n",
            self.bytes
        ))
    }
}

/// The kind of an index, by the end of its name.
#[derive(Clone, Copy)]
enum Kind {
    Binary,
    Integer,
}

impl Kind {
    fn of(index: &[u8]) -> Result<Self, Fail> {
        match index {
            _ if index.ends_with(b"_bin") => Ok(Self::Binary),
            _ if index.ends_with(b"_int") => Ok(Self::Integer),
            _ => Err(Fail::bad_request(format!("Unknown field type for field: '{}'.\n", Cut(index)))),
        }
    }

    /// Returns a term in its stored form; the form of a number is written over `number`.
    fn normal<'a>(self, index: &[u8], term: &'a [u8], number: &'a mut Vec<u8>) -> Result<&'a [u8], Fail> {
        match self {
            Self::Binary => Ok(term),
            Self::Integer => match term::normal_integer(term, number) {
                Some(()) => Ok(number),
                None => Err(unreadable(index, term)),
            },
        }
    }

    const fn entry<'a>(self, field: &'a [u8], term: &'a [u8]) -> Attribute<'a> {
        match self {
            Self::Binary => Attribute::BinaryEntry { field, term },
            Self::Integer => Attribute::IntegerEntry { field, term },
        }
    }
}

/// Appends an entry unless it is there, or there is no room for it.
fn put_entry(entry: Attribute<'_>, term: &[u8], there: &mut There, rows: &mut Rows, out: &mut Vec<u8>) {
    if !there.has(term, out) && rows.count(entry) {
        there.add(term, out);
        entry.write(out);
    }
}

/// The terms of one index that were appended: few are compared one by one, many are in a set.
struct There {
    start: usize,
    count: usize,
    many: BTreeSet<Vec<u8>>,
}

impl There {
    const FEW_MAX: usize = 32;

    const fn from(start: usize) -> Self {
        Self { start, count: 0, many: BTreeSet::new() }
    }

    fn has(&self, term: &[u8], out: &[u8]) -> bool {
        match self.count {
            0 => false,
            1..=Self::FEW_MAX => self.kept(out).any(|kept| kept == term),
            _ => self.many.contains(term),
        }
    }

    /// Records a term that was appended.
    fn add(&mut self, term: &[u8], out: &[u8]) {
        if self.count == Self::FEW_MAX {
            let kept: BTreeSet<_> = self.kept(out).map(<[u8]>::to_vec).collect();
            self.many = kept;
        }
        if self.count >= Self::FEW_MAX {
            self.many.insert(term.to_vec());
        }
        self.count += 1;
    }

    fn kept<'o>(&self, out: &'o [u8]) -> impl Iterator<Item = &'o [u8]> {
        Attributes::new(&out[self.start..]).flatten().filter_map(|attribute| match attribute {
            Attribute::BinaryEntry { term, .. } | Attribute::IntegerEntry { term, .. } => Some(term),
            _ => None,
        })
    }
}

fn unreadable(field: &[u8], value: &[u8]) -> Fail {
    let [field, value] = [field, value].map(Cut);
    Fail::bad_request(format!("Could not parse field '{field}', value '{value}'.\n"))
}

/// Returns the terms of a field: a comma and white space separate them, a comma alone is part of one.
fn terms(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let value = rest?;
        let end = value.windows(2).position(|pair| matches!(pair, [b',', b' ' | b'\t']));
        rest = end.map(|end| &value[end + 2..]);
        Some(end.map_or(value, |end| &value[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::BucketName;

    fn row(key: &[u8]) -> RowLength {
        RowLength::of(BucketName { bucket_type: b"default", bucket: b"b" }.object(key))
    }

    fn rows(key: &[u8], fields: &[(&str, &str)]) -> Result<(u64, Vec<u8>), Fail> {
        let headers = FieldSection::from_pairs(fields.iter().copied()).expect("valid fields");
        let mut out = Vec::new();
        put(&headers, row(key), &mut out).map(|rows| (rows, out))
    }

    #[test]
    fn many_entries_are_there_once() {
        let terms: Vec<_> = (0..200).map(|number| (number % 100).to_string()).collect();
        let (_, kept) = rows(b"k", &[("x-riak-index-a_int", &terms.join(", "))]).expect("they fit");
        assert_eq!(Attributes::new(&kept).flatten().count(), 100);
    }

    #[test]
    fn rows_are_counted_once_and_up_to_their_bound() {
        let (one, _) = rows(b"k", &[("x-riak-index-a_bin", "a")]).expect("one row");
        assert_eq!(one, (8 + 2 + 6 + 3 + 1) as u64);
        assert_eq!(
            rows(b"k", &[("x-riak-index-a_bin", "a, a"), ("x-riak-index-a_bin", "a")]).expect("one").0,
            one
        );
        // A row of this key fills the half of the room, but for what the term lets free.
        let key = vec![b'k'; CONTENT_ROWS_MAX as usize / 2 - 20];
        let fits = [("x-riak-index-a_bin", "a, b")];
        assert_eq!(rows(&key, &fits).expect("they fit").0, CONTENT_ROWS_MAX - 2);
        assert_eq!(rows(&key, &[("x-riak-index-a_bin", "ab, bc")]).expect("they fit").0, CONTENT_ROWS_MAX);
        assert!(rows(&key, &[("x-riak-index-a_bin", "ab, bcd")]).is_err());
    }
}
