//! The table of all types at one moment. A change makes another table, which shares what stays.

use std::collections::HashMap;
use std::sync::Arc;

use super::bucket_type::BucketType;
use super::list::List;
use super::resolved::Properties;
use super::setting;
use crate::engine::BucketName;

/// The most buckets that may have properties of their own: each of them is looked at by each change, and read
/// at the start.
pub(super) const BUCKETS_MAX: usize = 10_000;

/// The most bytes that the settings of these buckets take together, names and JSON.
pub(super) const BYTES_MAX: usize = 32 * 1024 * 1024;

/// The types by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    types: HashMap<Arc<[u8]>, Arc<BucketType>>,
    /// The buckets with own lists.
    buckets: usize,
    /// The bytes of their settings.
    bytes: usize,
}

impl Table {
    /// Returns the properties of a bucket, or `None` if there is no such type. Allocates nothing.
    pub(super) fn properties(&self, bucket: BucketName<'_>) -> Option<Properties> {
        Some(self.types.get(bucket.bucket_type)?.properties_of(bucket.bucket))
    }

    /// Returns the type of this name.
    pub(super) fn of_type(&self, name: &[u8]) -> Option<&BucketType> {
        self.types.get(name).map(|bucket_type| &**bucket_type)
    }

    /// Returns the table with this type in place of the one of the same name.
    pub(super) fn with_type(&self, name: &[u8], bucket_type: BucketType) -> Self {
        let mut table = self.clone();
        table.put_type(name, bucket_type);
        table
    }

    /// Returns the table with an own list of a bucket of a known type, or `None` if there would be too many
    /// of them, or too long ones.
    pub(super) fn with_bucket(&self, bucket: BucketName<'_>, own: List) -> Option<Self> {
        let mut table = self.without_bucket(bucket);
        if !own.is_empty() {
            table.put_bucket(bucket, own);
        }
        (table.buckets <= BUCKETS_MAX && table.bytes <= BYTES_MAX).then_some(table)
    }

    /// Returns the table without the own list of a bucket.
    pub(super) fn without_bucket(&self, bucket: BucketName<'_>) -> Self {
        let mut table = self.clone();
        let Some(bucket_type) = table.types.get_mut(bucket.bucket_type) else { return table };
        if let Some(own) = Arc::make_mut(bucket_type).remove(bucket.bucket) {
            table.buckets -= 1;
            table.bytes -= bytes_of(bucket, &own);
        }
        table
    }

    /// Replaces the type of the same name.
    pub(super) fn put_type(&mut self, name: &[u8], bucket_type: BucketType) {
        self.types.insert(name.into(), Arc::new(bucket_type));
    }

    /// Puts the own list of a bucket that has none. Buckets of types that are not there are passed over.
    pub(super) fn put_bucket(&mut self, bucket: BucketName<'_>, own: List) {
        let Some(bucket_type) = self.types.get_mut(bucket.bucket_type) else { return };
        self.buckets += 1;
        self.bytes += bytes_of(bucket, &own);
        Arc::make_mut(bucket_type).put(bucket.bucket.into(), own);
    }
}

fn bytes_of(bucket: BucketName<'_>, own: &List) -> usize {
    setting::bucket_name(bucket).len() + setting::value(own).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::defaults;

    fn untyped(bucket: &[u8]) -> BucketName<'_> {
        BucketName { bucket_type: b"default", bucket }
    }

    fn one(name: &str, value: impl Into<serde_json::Value>) -> List {
        [(name.to_owned(), value.into())].into_iter().collect()
    }

    fn table() -> Table {
        let mut table = Table::default();
        table.put_type(b"default", BucketType::new(defaults::of(false), List::new()));
        table
    }

    #[test]
    fn buckets_with_own_lists_are_counted_and_bounded() {
        let mut table = table();
        for number in 0..BUCKETS_MAX {
            table.put_bucket(untyped(&number.to_be_bytes()), one("n_val", 1));
        }
        assert!(table.with_bucket(untyped(b"one more"), one("n_val", 1)).is_none());
        let again = table.with_bucket(untyped(&1usize.to_be_bytes()), one("n_val", 2)).expect("it has one");
        assert_eq!((again.buckets, again.bytes), (table.buckets, table.bytes));
        let fewer = again.without_bucket(untyped(&1usize.to_be_bytes()));
        assert!(fewer.with_bucket(untyped(b"one more"), one("n_val", 1)).is_some());
    }

    #[test]
    fn the_bytes_of_all_lists_are_bounded() {
        // The lists of other buckets leave room for this one alone.
        let long = one("x", "y".repeat(1_000));
        let mut table = Table { bytes: BYTES_MAX - bytes_of(untyped(b"a"), &long), ..table() };
        table.put_bucket(untyped(b"a"), long.clone());
        assert_eq!(table.bytes, BYTES_MAX);
        assert!(table.with_bucket(untyped(b"b"), one("n_val", 1)).is_none());
        assert!(table.with_bucket(untyped(b"a"), one("x", "y".repeat(1_001))).is_none());
        let again = table.with_bucket(untyped(b"a"), long).expect("as long as before");
        assert_eq!(again.bytes, BYTES_MAX);
        let without = again.without_bucket(untyped(b"a")).without_bucket(untyped(b"a"));
        assert_eq!(without.with_bucket(untyped(b"b"), List::new()).expect("an empty list").buckets, 0);
        assert!(without.buckets == 0 && without.with_bucket(untyped(b"b"), one("n_val", 1)).is_some());
    }

    #[test]
    fn a_bucket_is_above_its_type_and_sees_changes_of_it() {
        let table = table().with_bucket(untyped(b"a"), one("n_val", 5)).expect("the first");
        let n_val = |table: &Table, bucket: &[u8]| table.properties(untyped(bucket)).expect("the type").n_val;
        let bucket_type = table.of_type(b"default").expect("the type");
        let mut own = one("n_val", 2);
        own.insert("allow_mult".into(), true.into());
        let changed = table.with_type(b"default", bucket_type.with_own(own));
        assert_eq!([n_val(&table, b"a"), n_val(&table, b"b")], [5, 3]);
        assert_eq!([n_val(&changed, b"a"), n_val(&changed, b"b")], [5, 2]);
        assert!(changed.properties(untyped(b"a")).expect("the type").allow_mult);
        assert_eq!(changed.properties(BucketName { bucket_type: b"x", bucket: b"a" }), None);
    }
}
