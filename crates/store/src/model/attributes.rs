//! Attributes of a content: its media type and coding, metadata, index entries and links, as they are kept.
//!
//! Each is one byte that says which it is, and its parts, each after its length.

use super::bytes::{Bytes, put_counted};
use super::record::Damaged;

/// An attribute of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute<'a> {
    /// The value of `content-type`, whole.
    MediaType(&'a [u8]),
    /// The value of `content-encoding`.
    Coding(&'a [u8]),
    /// A field of the user: its name after `x-riak-meta-`, and its value.
    Meta {
        /// The name, in lower case.
        name: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// An entry of an index of bytes.
    BinaryEntry {
        /// The name of the index, which ends in `_bin`.
        field: &'a [u8],
        /// The term.
        term: &'a [u8],
    },
    /// An entry of an index of whole numbers.
    IntegerEntry {
        /// The name of the index, which ends in `_int`.
        field: &'a [u8],
        /// The term in decimal digits, without leading zeros, after `-` if it is negative.
        term: &'a [u8],
    },
    /// A link to another object.
    Link {
        /// The bucket of that object.
        bucket: &'a [u8],
        /// Its key.
        key: &'a [u8],
        /// The name of the link.
        tag: &'a [u8],
    },
}

/// The bytes that tell the kinds of attributes apart. They are written to disk and never change.
mod kind {
    pub(super) const MEDIA_TYPE: u8 = 1;
    pub(super) const CODING: u8 = 2;
    pub(super) const META: u8 = 3;
    pub(super) const BINARY_ENTRY: u8 = 4;
    pub(super) const INTEGER_ENTRY: u8 = 5;
    pub(super) const LINK: u8 = 6;
}

impl Attribute<'_> {
    /// Appends the stored form of the attribute.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (kind, parts): (u8, [Option<&[u8]>; 3]) = match *self {
            Self::MediaType(value) => (kind::MEDIA_TYPE, [Some(value), None, None]),
            Self::Coding(value) => (kind::CODING, [Some(value), None, None]),
            Self::Meta { name, value } => (kind::META, [Some(name), Some(value), None]),
            Self::BinaryEntry { field, term } => (kind::BINARY_ENTRY, [Some(field), Some(term), None]),
            Self::IntegerEntry { field, term } => (kind::INTEGER_ENTRY, [Some(field), Some(term), None]),
            Self::Link { bucket, key, tag } => (kind::LINK, [Some(bucket), Some(key), Some(tag)]),
        };
        out.push(kind);
        parts.into_iter().flatten().for_each(|part| put_counted(part, out));
    }
}

/// The attributes of a content, in the order in which they were written. Reading them allocates nothing.
///
/// ```
/// use alula_store::model::{Attribute, Attributes};
///
/// let mut kept = Vec::new();
/// Attribute::MediaType(b"text/plain").write(&mut kept);
/// let mut attributes = Attributes::new(&kept);
/// assert_eq!(attributes.next(), Some(Ok(Attribute::MediaType(b"text/plain"))));
/// assert_eq!(attributes.next(), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(Bytes<'a>);

impl<'a> Attributes<'a> {
    /// Creates attributes of these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(Bytes::new(bytes))
    }

    fn read(&mut self) -> Option<Attribute<'a>> {
        let bytes = &mut self.0;
        Some(match bytes.byte()? {
            kind::MEDIA_TYPE => Attribute::MediaType(bytes.counted()?),
            kind::CODING => Attribute::Coding(bytes.counted()?),
            kind::META => Attribute::Meta { name: bytes.counted()?, value: bytes.counted()? },
            kind::BINARY_ENTRY => Attribute::BinaryEntry { field: bytes.counted()?, term: bytes.counted()? },
            kind::INTEGER_ENTRY => {
                Attribute::IntegerEntry { field: bytes.counted()?, term: bytes.counted()? }
            }
            kind::LINK => {
                Attribute::Link { bucket: bytes.counted()?, key: bytes.counted()?, tag: bytes.counted()? }
            }
            _ => return None,
        })
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let attribute = self.read();
        if attribute.is_none() {
            self.0 = Bytes::new(&[]);
        }
        Some(attribute.ok_or(Damaged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Attribute<'_>; 6] = [
        Attribute::MediaType(b"text/plain; charset=utf-8"),
        Attribute::Coding(b"gzip"),
        Attribute::Meta { name: b"colour", value: b"" },
        Attribute::BinaryEntry { field: b"name_bin", term: b"\xff\0" },
        Attribute::IntegerEntry { field: b"age_int", term: b"-12" },
        Attribute::Link { bucket: b"b", key: b"k/k", tag: b"friend" },
    ];

    fn kept() -> Vec<u8> {
        let mut out = Vec::new();
        ALL.iter().for_each(|attribute| attribute.write(&mut out));
        out
    }

    #[test]
    fn attributes_come_back() {
        let kept = kept();
        assert_eq!(Attributes::new(&kept).collect::<Result<Vec<_>, _>>(), Ok(ALL.to_vec()));
    }

    #[test]
    fn what_is_cut_off_is_damaged_or_ends_before_an_attribute() {
        let kept = kept();
        let whole = |len: usize| {
            ALL.iter()
                .scan(0, |end, attribute| {
                    let mut one = Vec::new();
                    attribute.write(&mut one);
                    *end += one.len();
                    Some(*end)
                })
                .any(|end| end == len)
                || len == 0
        };
        for len in 0..kept.len() {
            let read = Attributes::new(&kept[..len]).collect::<Result<Vec<_>, _>>();
            assert_eq!(read.is_ok(), whole(len), "{len}");
        }
        assert_eq!(Attributes::new(&[9]).collect::<Vec<_>>(), [Err(Damaged)]);
    }
}
