//! The paths of data types and counters.

use crate::engine::ObjectName;
use crate::http::walk::links;

/// Returns the path of a data type.
pub(super) fn of_datatype(name: ObjectName<'_>) -> Vec<u8> {
    path(&[b"types", name.bucket.bucket_type, b"buckets", name.bucket.bucket, b"datatypes", name.key])
}

/// Returns the path of a counter of a bucket without a type.
pub(super) fn of_counter(name: ObjectName<'_>) -> Vec<u8> {
    path(&[b"buckets", name.bucket.bucket, b"counters", name.key])
}

fn path(segments: &[&[u8]]) -> Vec<u8> {
    let mut path = Vec::new();
    for segment in segments {
        path.push(b'/');
        links::write_name(segment, &mut path);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::BucketName;

    #[test]
    fn what_is_not_unreserved_is_escaped() {
        let bucket = BucketName { bucket_type: b"my sets", bucket: b"a/b" };
        assert_eq!(
            of_datatype(bucket.object(b"k+%\xff~")),
            b"/types/my%20sets/buckets/a%2Fb/datatypes/k%2B%25%FF~"
        );
        assert_eq!(of_counter(bucket.object(b"k")), b"/buckets/a%2Fb/counters/k");
    }
}
