//! The parsers of the JSON that clients send, laid open for the fuzz targets in `crates/trials`, and the
//! look-up of properties for a test of its allocations. This is no API: it may change with any version.

use alula::FieldSection;

pub use crate::http::fuzzing::*;

use crate::engine::BucketName;
use crate::model::types::{Kind, Operation, Value};
use crate::store::Store;
use crate::{http, properties};

/// Returns the attributes that a request stores, as they are kept.
pub fn attributes(headers: &FieldSection, bucket: &[u8]) -> Option<Vec<u8>> {
    http::attributes(headers, bucket)
}

/// Returns the value of the field `link` with which a response shows these attributes.
pub fn link_field(attributes: &[u8], bucket: &[u8]) -> Vec<u8> {
    http::link_field(attributes, bucket)
}

/// Returns the operation on a data type that a content stands for, and the bytes of its context.
pub fn operation(kind: Kind, json: &[u8]) -> Option<(Operation, Option<Vec<u8>>)> {
    http::parse_operation(kind, json).ok().map(|asked| (asked.operation, asked.context))
}

/// Returns a value of a data type as clients read it.
pub fn value_json(value: &Value<'_>) -> Vec<u8> {
    let mut json = Vec::new();
    http::put_value(value, &mut json);
    json
}

/// Returns the own list of a bucket, as it is kept, after the content was put to its properties.
pub fn properties(json: &[u8]) -> Option<Vec<u8>> {
    properties::set_over_defaults(&properties::list_of_content(json).ok()?)
}

/// Returns the patterns of all paths.
pub fn paths() -> impl Iterator<Item = &'static str> {
    http::paths()
}

/// Returns the name and the password of a request, as far as there are any that can be read.
pub fn credentials(headers: &FieldSection) -> Option<(String, Vec<u8>)> {
    let credentials = crate::access::Credentials::read(headers)?;
    Some((credentials.name().to_owned(), credentials.password().to_vec()))
}

/// Returns the `n_val` of a bucket, as requests look it up; `None` if there is no such type.
pub fn n_val<E>(store: &Store<E>, bucket: BucketName<'_>) -> Option<u32> {
    store.shared().properties.of(bucket).map(|properties| properties.n_val)
}
