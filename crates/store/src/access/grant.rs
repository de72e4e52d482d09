//! Grants: which requests are allowed, and in which buckets.

use super::permission::{Permission, Permissions};

/// The part of the store that a request is about: a bucket, or all of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) bucket_type: &'a [u8],
    /// The bucket; `None` for all buckets of the type.
    pub(crate) bucket: Option<&'a [u8]>,
}

/// Permissions in a part of the store.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) permissions: Permissions,
    pub(super) scope: Scope,
}

/// A part of the store. Names are compared byte by byte.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    /// The whole store: every type.
    Store,
    /// The buckets of a type, all of them.
    Type(Box<[u8]>),
    Bucket {
        bucket_type: Box<[u8]>,
        bucket: Box<[u8]>,
    },
    /// The buckets of a type whose names begin with the prefix.
    Prefix {
        bucket_type: Box<[u8]>,
        prefix: Box<[u8]>,
    },
}

impl Grant {
    /// Returns true if this grant gives the permission in all of the place.
    pub(super) fn gives(&self, permission: Permission, place: Place<'_>) -> bool {
        self.permissions.contains(permission) && self.scope.covers(place)
    }
}

impl Scope {
    fn covers(&self, place: Place<'_>) -> bool {
        match self {
            Self::Store => true,
            Self::Type(bucket_type) => **bucket_type == *place.bucket_type,
            Self::Bucket { bucket_type, bucket } => {
                **bucket_type == *place.bucket_type && place.bucket == Some(bucket)
            }
            Self::Prefix { bucket_type, prefix } => {
                **bucket_type == *place.bucket_type
                    && place.bucket.is_some_and(|bucket| bucket.starts_with(prefix))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_no_more_than_it_says() {
        let bucket =
            |bucket_type, bucket: &'static str| Place { bucket_type, bucket: Some(bucket.as_bytes()) };
        let whole = |bucket_type| Place { bucket_type, bucket: None };
        let of_type = Scope::Type((*b"t").into());
        let of_bucket = Scope::Bucket { bucket_type: (*b"t").into(), bucket: (*b"b").into() };
        let of_prefix = Scope::Prefix { bucket_type: (*b"t").into(), prefix: (*b"b-").into() };
        for (scope, place, covers) in [
            (&Scope::Store, whole(b"t"), true),
            (&Scope::Store, bucket(b"t", "b"), true),
            (&of_type, whole(b"t"), true),
            (&of_type, bucket(b"t", "b"), true),
            (&of_type, bucket(b"u", "b"), false),
            (&of_type, whole(b"u"), false),
            (&of_bucket, bucket(b"t", "b"), true),
            (&of_bucket, bucket(b"t", "bb"), false),
            (&of_bucket, bucket(b"t", ""), false),
            (&of_bucket, bucket(b"u", "b"), false),
            (&of_bucket, whole(b"t"), false),
            (&of_prefix, bucket(b"t", "b-1"), true),
            (&of_prefix, bucket(b"t", "b-"), true),
            (&of_prefix, bucket(b"t", "b"), false),
            (&of_prefix, bucket(b"u", "b-1"), false),
            (&of_prefix, whole(b"t"), false),
        ] {
            assert_eq!(scope.covers(place), covers, "{scope:?} {place:?}");
        }
    }
}
