//! Properties of buckets and of their types.
//!
//! A property of a bucket is that of its own list, else that of its type's list, else a default. A type has a
//! list from the configuration and one that was set over HTTP, which is above it.
//!
//! Rule 1: [`PropertyTable::of`] is on the path of every request. It looks two names up in one snapshot of
//! all lists, without a lock and without allocating.
//! Rule 2: a list is kept by the engine before it is in effect.
//! Rule 3: changes follow each other, so that two of them to one bucket leave the properties of both.

mod bucket_type;
mod defaults;
mod error;
mod form;
mod list;
mod opening;
mod resolved;
mod rules;
mod setting;
mod table;
#[cfg(test)]
mod tests;
mod unheeded;

use std::sync::Arc;

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, timeout_at};

pub use error::PropertyError;
pub(crate) use error::SetError;
pub(crate) use form::{list_bytes, list_of_content};
pub(crate) use list::List;
pub(crate) use resolved::{Properties, Quorum, SyncOnWrite};
pub(crate) use unheeded::Unheeded;

use crate::engine::{BucketName, Engine, EngineError};
use setting::Setting;
use table::Table;

/// The properties of all types and buckets.
#[derive(Debug)]
pub(crate) struct PropertyTable {
    table: ArcSwap<Table>,
    /// Settings of types that the engine does not know yet.
    new_settings: Vec<Setting>,
    /// The lock that a change holds from when it reads a list until the new list is in effect.
    changing: Mutex<()>,
    unheeded: Unheeded,
}

impl PropertyTable {
    /// Builds the table of these types, and of the lists that were kept.
    ///
    /// # Errors
    /// A type that cannot be, one whose data type is another than before, or a kept list that cannot be read.
    pub(crate) fn new(
        types: &[(String, Map<String, Value>)],
        settings: &[Setting],
        unheeded: Unheeded,
    ) -> Result<Self, PropertyError> {
        let (table, new_settings) = opening::open(types, settings, &unheeded)?;
        Ok(Self { table: ArcSwap::from_pointee(table), new_settings, changing: Mutex::new(()), unheeded })
    }

    /// Returns the settings that are to be kept before the store opens, so that a later start knows the data
    /// types of this one.
    pub(crate) fn new_settings(&self) -> &[Setting] {
        &self.new_settings
    }

    /// Returns the properties of a bucket, or `None` if there is no such type. Allocates nothing and waits
    /// for nobody.
    pub(crate) fn of(&self, bucket: BucketName<'_>) -> Option<Properties> {
        self.table.load().properties(bucket)
    }

    /// Returns the whole list of a bucket, with its `name`, as clients are shown it; `None` if there is no
    /// such type.
    pub(crate) fn bucket_list(&self, bucket: BucketName<'_>) -> Option<List> {
        let mut list = self.table.load().of_type(bucket.bucket_type)?.list_of(bucket.bucket);
        list.insert("name".into(), String::from_utf8_lossy(bucket.bucket).into());
        Some(list)
    }

    /// Returns the whole list of a type, with its `name`, as clients are shown it; `None` if there is no such
    /// type.
    pub(crate) fn type_list(&self, bucket_type: &[u8]) -> Option<List> {
        let mut list = self.table.load().of_type(bucket_type)?.list().clone();
        list.insert("name".into(), String::from_utf8_lossy(bucket_type).into());
        list.insert("active".into(), true.into());
        list.insert("claimant".into(), "alula".into());
        Some(list)
    }

    /// Sets properties of a bucket; those that are not asked for stay.
    ///
    /// # Errors
    /// A [`SetError`], after which nothing is changed, unless it is [`EngineError::Unknown`].
    pub(crate) async fn set_bucket(
        &self,
        engine: &impl Engine,
        bucket: BucketName<'_>,
        asked: &List,
        deadline: Instant,
    ) -> Result<(), SetError> {
        let _changing = self.begin(deadline).await?;
        let table = self.table.load_full();
        let bucket_type = table.of_type(bucket.bucket_type).ok_or(SetError::UnknownType)?;
        let own = rules::set(asked, &bucket_type.own_of(bucket.bucket), bucket_type.list(), &self.unheeded)?;
        let value = (!own.is_empty()).then(|| setting::value(&own));
        let after = table.with_bucket(bucket, own).ok_or(SetError::Full)?;
        engine.set(&setting::bucket_name(bucket), value.as_deref(), deadline).await?;
        self.table.store(Arc::new(after));
        self.unheeded.warn_of(asked);
        Ok(())
    }

    /// Removes a bucket's own list.
    ///
    /// # Errors
    /// As [`set_bucket`](Self::set_bucket).
    pub(crate) async fn reset_bucket(
        &self,
        engine: &impl Engine,
        bucket: BucketName<'_>,
        deadline: Instant,
    ) -> Result<(), SetError> {
        let _changing = self.begin(deadline).await?;
        let table = self.table.load_full();
        table.of_type(bucket.bucket_type).ok_or(SetError::UnknownType)?;
        engine.set(&setting::bucket_name(bucket), None, deadline).await?;
        self.table.store(Arc::new(table.without_bucket(bucket)));
        Ok(())
    }

    /// Sets properties of a type. They show through where its buckets have none of their own.
    ///
    /// # Errors
    /// As [`set_bucket`](Self::set_bucket).
    pub(crate) async fn set_type(
        &self,
        engine: &impl Engine,
        name: &[u8],
        asked: &List,
        deadline: Instant,
    ) -> Result<(), SetError> {
        let _changing = self.begin(deadline).await?;
        let table = self.table.load_full();
        let bucket_type = table.of_type(name).ok_or(SetError::UnknownType)?;
        let own = rules::set(asked, bucket_type.own(), bucket_type.inherited(), &self.unheeded)?;
        engine.set(&setting::type_name(name), Some(&setting::value(&own)), deadline).await?;
        self.table.store(Arc::new(table.with_type(name, bucket_type.with_own(own))));
        self.unheeded.warn_of(asked);
        Ok(())
    }

    async fn begin(&self, deadline: Instant) -> Result<MutexGuard<'_, ()>, EngineError> {
        timeout_at(deadline, self.changing.lock()).await.map_err(|_| EngineError::TimedOut)
    }
}

/// Returns the own list of an untyped bucket with these properties set, in stored form, or `None` if one of
/// them is refused.
#[cfg(feature = "fuzzing")]
pub(crate) fn set_over_defaults(asked: &List) -> Option<Vec<u8>> {
    let defaults = defaults::of(false);
    let own = rules::set(asked, &List::new(), &defaults, &Unheeded::default()).ok()?;
    Properties::of(&list::merged(&defaults, &own));
    Some(setting::value(&own))
}
