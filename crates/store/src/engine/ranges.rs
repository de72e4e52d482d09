//! The parts of a bucket that lists and queries read.

use super::BucketName;

/// Keys of a bucket.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// The bucket.
    pub bucket: BucketName<'a>,
    /// The least key.
    pub low: &'a [u8],
    /// The greatest key, itself in the range; `None` for all.
    pub high: Option<&'a [u8]>,
    /// The key that the page before ended with: only keys after it are read.
    pub after: Option<&'a [u8]>,
}

/// Entries of an index of a bucket.
#[derive(Clone, Copy, Debug)]
pub struct IndexRange<'a> {
    /// The bucket.
    pub bucket: BucketName<'a>,
    /// The index, with its ending `_bin` or `_int`.
    pub field: &'a [u8],
    /// The least term, in the form in which [terms are ordered](crate::model::term).
    pub low: &'a [u8],
    /// The greatest term, itself in the range.
    pub high: &'a [u8],
    /// The term and the key that the page before ended with: only entries after them are read.
    pub after: Option<(&'a [u8], &'a [u8])>,
}

impl<'a> KeyRange<'a> {
    /// Returns the range of all keys of a bucket.
    pub const fn all(bucket: BucketName<'a>) -> Self {
        Self { bucket, low: b"", high: None, after: None }
    }
}
