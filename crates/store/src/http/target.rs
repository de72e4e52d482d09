//! The target of a request: the bucket and the key that its path names.

use alula::{Exchange, ParamError, Scratch, Status};

use super::answer::fail::Fail;
use super::answer::stand_ins;
use crate::engine::{BucketName, ObjectName};
use crate::properties::{Properties, PropertyTable};

/// The longest key, in bytes.
pub(super) const KEY_BYTES_MAX: usize = 65_536;

/// The capacity of a buffer for a name, which is held until the request ends.
const LENT_BYTES_MAX: usize = 1024;

/// The type of buckets that are named without one.
pub(super) const DEFAULT_TYPE: &[u8] = b"default";

/// The way in which a path names a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `/types/T/buckets/B`
    Typed,
    /// `/buckets/B`
    Untyped,
    /// `/riak/B`
    Old,
}

/// The bucket and the key of a request, decoded. Allocates nothing once warm.
#[derive(Debug)]
pub(super) struct Target {
    name: Scratch,
    pub(super) form: Form,
}

impl Target {
    /// Returns the target that the captures `type`, `bucket` and `key` name. A route without one of them has
    /// an empty one, or the default type.
    pub(super) fn of<S>(exchange: &Exchange<S>) -> Result<Self, Fail> {
        let form = match exchange.route().unwrap_or_default() {
            route if route.starts_with("/types/") => Form::Typed,
            route if route.starts_with("/riak") => Form::Old,
            _ => Form::Untyped,
        };
        let captured =
            |name: &str| -> Result<_, ParamError> { exchange.param_bytes(name).map(stand_ins::decoded) };
        let bucket_type = match form {
            Form::Typed => captured("type")?,
            _ => DEFAULT_TYPE.into(),
        };
        let optional = |name: &str| match exchange.route().is_some_and(|route| route.contains(name)) {
            true => captured(name.trim_matches(['{', '}'])),
            false => Ok((&[][..]).into()),
        };
        let (bucket, key) = (optional("{bucket}")?, optional("{key}")?);
        if key.len() > KEY_BYTES_MAX {
            return Err(Fail::text(Status::BAD_REQUEST, format!("a key may have {KEY_BYTES_MAX} bytes\n")));
        }
        let mut name = Scratch::lend_within(LENT_BYTES_MAX);
        BucketName { bucket_type: &bucket_type, bucket: &bucket }.object(&key).write(&mut name);
        Ok(Self { name, form })
    }

    /// Returns the object.
    pub(super) fn object(&self) -> ObjectName<'_> {
        ObjectName::read(&self.name).expect("a name that was written")
    }

    /// Returns the bucket.
    pub(super) fn bucket(&self) -> BucketName<'_> {
        self.object().bucket
    }

    /// Returns the properties of the bucket.
    ///
    /// # Errors
    /// 404 if there is no such type.
    pub(super) fn properties(&self, table: &PropertyTable) -> Result<Properties, Fail> {
        let bucket = self.bucket();
        table.of(bucket).ok_or_else(|| Fail::unknown_type(bucket.bucket_type))
    }

    /// Returns the object of another key in the bucket, such as one that was made for it.
    pub(super) fn with_key(&self, key: &[u8]) -> Self {
        let mut name = Scratch::lend_within(LENT_BYTES_MAX);
        self.bucket().object(key).write(&mut name);
        Self { name, form: self.form }
    }
}
