//! Names of buckets and objects, and their form in keys of an engine.
//!
//! ```text
//! type     number of bytes, then the bytes
//! bucket   number of bytes, then the bytes
//! key      the rest
//! ```
//!
//! The objects of a bucket lie together, in the order of their keys. The order of buckets is by the length of
//! their names first.

use crate::model::bytes::{Bytes, put_counted};

/// A bucket and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BucketName<'a> {
    /// The type, `default` for buckets that were named without one.
    pub bucket_type: &'a [u8],
    /// The bucket.
    pub bucket: &'a [u8],
}

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName<'a> {
    /// The bucket and its type.
    pub bucket: BucketName<'a>,
    /// The key within the bucket.
    pub key: &'a [u8],
}

impl<'a> BucketName<'a> {
    /// Appends the bytes with which the encoded names of all of its objects begin, and those of no others.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_counted(self.bucket_type, out);
        put_counted(self.bucket, out);
    }

    /// Returns the object of this key.
    pub const fn object(self, key: &'a [u8]) -> ObjectName<'a> {
        ObjectName { bucket: self, key }
    }
}

impl<'a> ObjectName<'a> {
    /// Appends the name in one piece, as engines keep it.
    ///
    /// ```
    /// use alula_store::engine::{BucketName, ObjectName};
    ///
    /// let name = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"key");
    /// let mut out = Vec::new();
    /// name.write(&mut out);
    /// assert_eq!(out, b"\x07default\x01bkey");
    /// assert_eq!(ObjectName::read(&out), Some(name));
    /// ```
    pub fn write(&self, out: &mut Vec<u8>) {
        self.bucket.write(out);
        out.extend_from_slice(self.key);
    }

    /// Reads a name in one piece, or returns `None` for bytes that [`ObjectName::write`] does not make.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Bytes::new(bytes);
        let bucket = BucketName { bucket_type: bytes.counted()?, bucket: bytes.counted()? };
        Some(bucket.object(bytes.rest()))
    }
}
