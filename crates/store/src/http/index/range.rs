//! The index and the terms in the path of a query (Riak §11.1).

use crate::engine::{BucketName, Item};
use crate::http::answer::fail::{Cut, Fail};
use crate::http::list::pages::Selection;
use crate::model::term;

/// A range of terms of an index.
#[derive(Debug)]
pub(crate) struct Range {
    kind: Kind,
    /// The name of the index, in lower case.
    field: Vec<u8>,
    /// The least term and the greatest, in the form in which engines order terms.
    low: Vec<u8>,
    high: Vec<u8>,
    /// The path has one term.
    is_equality: bool,
}

/// A kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Terms are bytes.
    Binary,
    /// Terms are whole numbers.
    Integer,
    /// The special index `$key`: the keys of the bucket as terms.
    Key,
    /// The special index `$bucket`: all keys of the bucket.
    Bucket,
}

impl Range {
    /// Reads the parts of a path; without a second term it asks for the first one alone.
    ///
    /// # Errors
    /// 400 if there is no such kind of index, or a term of an index of numbers is none.
    pub(crate) fn read(field: &[u8], low: &[u8], high: Option<&[u8]>) -> Result<Self, Fail> {
        let field = field.to_ascii_lowercase();
        let kind = Kind::of(&field).ok_or_else(|| unknown_kind(&field))?;
        let term = |text: &[u8]| kind.term(text).ok_or_else(|| not_a_term(&field, text));
        let (is_equality, low, high) = (high.is_none(), term(low)?, term(high.unwrap_or(low))?);
        Ok(Self { kind, field, low, high, is_equality })
    }

    /// Returns the part of the bucket to read.
    pub(crate) fn selection<'a>(&'a self, bucket: BucketName<'a>) -> Selection<'a> {
        let (low, high) = (&self.low[..], &self.high[..]);
        match self.kind {
            Kind::Binary | Kind::Integer => Selection::Entries { bucket, field: &self.field, low, high },
            Kind::Key => Selection::Keys { bucket, low, high: Some(high) },
            Kind::Bucket => Selection::Keys { bucket, low: b"", high: None },
        }
    }

    /// Returns true if an item is in the range.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn contains(&self, item: Item<'_>) -> bool {
        let bucket = BucketName { bucket_type: b"", bucket: b"" };
        self.selection(bucket).bounds(item) == (false, false)
    }

    /// Returns true if the terms of results may be shown: for one term, and for the keys of a bucket, clients
    /// expect keys alone.
    pub(crate) fn has_terms_to_show(&self) -> bool {
        self.has_terms() && !self.is_equality
    }

    /// Returns true if results have terms beside their keys.
    pub(crate) const fn has_terms(&self) -> bool {
        matches!(self.kind, Kind::Binary | Kind::Integer)
    }

    /// Returns true if terms are whole numbers.
    pub(crate) const fn is_of_integers(&self) -> bool {
        matches!(self.kind, Kind::Integer)
    }

    /// Returns the bytes that a pattern is matched against: the term, or the key where there is none.
    pub(crate) const fn searched<'i>(&self, item: Item<'i>) -> &'i [u8] {
        if self.has_terms() { item.term } else { item.key }
    }

    /// Returns the term of a result as clients write it; that of numbers is written over `out`.
    pub(crate) fn shown<'i>(&self, item: Item<'i>, out: &'i mut Vec<u8>) -> &'i [u8] {
        if !self.is_of_integers() {
            return item.term;
        }
        out.clear();
        match term::read_integer(item.term, out) {
            Some(()) => out,
            None => item.term,
        }
    }
}

impl Kind {
    fn of(field: &[u8]) -> Option<Self> {
        Some(match field {
            b"$key" => Self::Key,
            b"$bucket" => Self::Bucket,
            field if field.ends_with(b"_bin") => Self::Binary,
            field if field.ends_with(b"_int") => Self::Integer,
            _ => return None,
        })
    }

    /// Returns a term in the form in which engines order terms.
    fn term(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Binary | Self::Key => Some(text.to_vec()),
            Self::Bucket => Some(Vec::new()),
            Self::Integer => {
                let (mut normal, mut out) = (Vec::new(), Vec::new());
                term::normal_integer(text, &mut normal)?;
                term::write_integer(&normal, &mut out);
                Some(out)
            }
        }
    }
}

fn unknown_kind(field: &[u8]) -> Fail {
    Fail::bad_request(format!("Unknown field type for field: '{}'.\n", Cut(field)))
}

fn not_a_term(field: &[u8], text: &[u8]) -> Fail {
    let [field, text] = [field, text].map(Cut);
    Fail::bad_request(format!("Could not parse field '{field}', value '{text}'.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(field: &str, low: &str, high: Option<&str>) -> Option<Range> {
        Range::read(field.as_bytes(), low.as_bytes(), high.map(str::as_bytes)).ok()
    }

    #[test]
    fn fields_have_kinds() {
        for (field, kind) in [
            ("name_bin", Some(Kind::Binary)),
            ("NAME_BIN", Some(Kind::Binary)),
            ("age_int", Some(Kind::Integer)),
            ("$key", Some(Kind::Key)),
            ("$KEY", Some(Kind::Key)),
            ("$bucket", Some(Kind::Bucket)),
            ("name", None),
            ("name_bin_", None),
            ("$keys", None),
            ("", None),
        ] {
            assert_eq!(range(field, "1", None).map(|range| range.kind), kind, "{field}");
        }
    }

    #[test]
    fn numbers_are_read_whatever_their_size() {
        for (low, high) in
            [("1", Some("2")), ("-5", None), ("+5", None), ("0", Some("100000000000000000000000000"))]
        {
            let range = range("age_int", low, high).expect("numbers");
            assert!(range.is_of_integers() && range.low <= range.high);
            let mut out = Vec::new();
            let item = Item { term: &range.low, key: b"" };
            assert_eq!(range.shown(item, &mut out), low.trim_start_matches('+').as_bytes());
        }
        for (low, high) in [("one", None), ("1", Some("")), (" 1", None), ("1.0", None), ("1", Some("0x2"))] {
            assert!(range("age_int", low, high).is_none(), "{low} {high:?}");
        }
    }

    #[test]
    fn the_value_for_all_keys_is_ignored() {
        let range = range("$bucket", "z", Some("a")).expect("any values");
        for key in ["", "a", "z", "zz"] {
            assert!(range.contains(Item { term: b"", key: key.as_bytes() }), "{key}");
        }
        assert!(!range.has_terms_to_show());
    }
}
