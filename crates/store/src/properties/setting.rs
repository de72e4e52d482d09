//! The settings in which lists are kept.
//!
//! ```text
//! name    1 byte: 1 for a type, 2 for a bucket
//!         type     number of bytes, then the bytes
//!         bucket   of a bucket: number of bytes, then the bytes
//! value   the properties of the list, as JSON
//! ```
//!
//! Names that begin otherwise are settings of others.

use serde_json::Value;

use super::list::List;
use crate::engine::BucketName;
use crate::model::bytes::{Bytes, put_counted};

const TYPE: u8 = 1;
const BUCKET: u8 = 2;

/// The name and the value of a setting.
pub(super) type Setting = (Vec<u8>, Vec<u8>);

/// The owner of a list: a type or a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner<'a> {
    Type(&'a [u8]),
    Bucket(BucketName<'a>),
}

/// Returns the name of the setting of a type.
pub(super) fn type_name(bucket_type: &[u8]) -> Vec<u8> {
    let mut name = vec![TYPE];
    put_counted(bucket_type, &mut name);
    name
}

/// Returns the name of the setting of a bucket.
pub(super) fn bucket_name(bucket: BucketName<'_>) -> Vec<u8> {
    let mut name = vec![BUCKET];
    bucket.write(&mut name);
    name
}

/// Returns the stored form of a list.
pub(super) fn value(list: &List) -> Vec<u8> {
    Value::Object(list.clone()).to_string().into_bytes()
}

/// Returns the owner named by a setting, or `None` if the setting is something else.
pub(super) fn owner(name: &[u8]) -> Option<Owner<'_>> {
    let mut bytes = Bytes::new(name);
    let owner = match bytes.byte()? {
        TYPE => Owner::Type(bytes.counted()?),
        BUCKET => Owner::Bucket(BucketName { bucket_type: bytes.counted()?, bucket: bytes.counted()? }),
        _ => return None,
    };
    bytes.is_empty().then_some(owner)
}

/// Parses the list of a value; `None` if it is damaged.
pub(super) fn list(value: &[u8]) -> Option<List> {
    serde_json::from_slice(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        assert_eq!(type_name(b"maps"), b"\x01\x04maps");
        let bucket = BucketName { bucket_type: b"default", bucket: b"b\0" };
        assert_eq!(bucket_name(bucket), b"\x02\x07default\x02b\0");
        assert_eq!(owner(b"\x01\x04maps"), Some(Owner::Type(b"maps")));
        assert_eq!(owner(&bucket_name(bucket)), Some(Owner::Bucket(bucket)));
    }

    #[test]
    fn other_names_are_of_others() {
        for name in [&b""[..], b"\x03\x01a", b"\x01\x02a", b"\x01\x01ab", b"\x02\x01a", b"users"] {
            assert_eq!(owner(name), None, "{name:?}");
        }
    }

    #[test]
    fn values_come_back_or_are_damaged() {
        let kept: List = [("n_val".to_owned(), Value::from(1)), ("x".to_owned(), Value::from("é\u{0}"))]
            .into_iter()
            .collect();
        let bytes = value(&kept);
        assert_eq!(list(&bytes), Some(kept));
        for len in 0..bytes.len() {
            assert_eq!(list(&bytes[..len]), None, "{len}");
        }
        assert_eq!(list(b"[]"), None);
    }
}
