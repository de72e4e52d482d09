//! A bucket type, and the buckets of it that have properties of their own.

use std::collections::HashMap;
use std::sync::Arc;

use super::list::{List, merged};
use super::resolved::Properties;

/// A type, with its lists merged.
#[derive(Clone, Debug)]
pub(super) struct BucketType {
    /// The defaults, and over them the list from the configuration.
    inherited: Arc<List>,
    /// The list that was set over HTTP.
    own: Arc<List>,
    list: Arc<List>,
    properties: Properties,
    buckets: HashMap<Arc<[u8]>, Arc<Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    own: List,
    properties: Properties,
}

impl BucketType {
    /// Creates a type of these lists.
    pub(super) fn new(inherited: List, own: List) -> Self {
        let list = merged(&inherited, &own);
        Self {
            inherited: Arc::new(inherited),
            own: Arc::new(own),
            properties: Properties::of(&list),
            list: Arc::new(list),
            buckets: HashMap::new(),
        }
    }

    /// Returns the same type with another own list, for all of its buckets.
    pub(super) fn with_own(&self, own: List) -> Self {
        let mut changed = Self::new((*self.inherited).clone(), own);
        for (name, bucket) in &self.buckets {
            changed.put(Arc::clone(name), bucket.own.clone());
        }
        changed
    }

    /// Replaces the own list of a bucket.
    pub(super) fn put(&mut self, bucket: Arc<[u8]>, own: List) {
        let properties = Properties::of(&merged(&self.list, &own));
        self.buckets.insert(bucket, Arc::new(Bucket { own, properties }));
    }

    /// Removes the own list of a bucket and returns it.
    pub(super) fn remove(&mut self, bucket: &[u8]) -> Option<List> {
        self.buckets.remove(bucket).map(|bucket| bucket.own.clone())
    }

    /// Returns the properties of a bucket.
    pub(super) fn properties_of(&self, bucket: &[u8]) -> Properties {
        self.buckets.get(bucket).map_or(self.properties, |bucket| bucket.properties)
    }

    /// Returns the whole list of a bucket.
    pub(super) fn list_of(&self, bucket: &[u8]) -> List {
        self.buckets
            .get(bucket)
            .map_or_else(|| (*self.list).clone(), |bucket| merged(&self.list, &bucket.own))
    }

    /// Returns the own list of a bucket; most have none.
    pub(super) fn own_of(&self, bucket: &[u8]) -> List {
        self.buckets.get(bucket).map(|bucket| bucket.own.clone()).unwrap_or_default()
    }

    /// Returns the whole list of the type.
    pub(super) fn list(&self) -> &List {
        &self.list
    }

    /// Returns the list below the own one: the defaults, and the list from the configuration.
    pub(super) fn inherited(&self) -> &List {
        &self.inherited
    }

    /// Returns the list that was set over HTTP.
    pub(super) fn own(&self) -> &List {
        &self.own
    }
}
