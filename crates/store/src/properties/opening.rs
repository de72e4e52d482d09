//! The table at the start: the types of the configuration, and the lists that were kept.

use serde_json::{Map, Value};

use super::bucket_type::BucketType;
use super::error::PropertyError;
use super::list::{List, merged};
use super::setting::{Owner, Setting};
use super::table::Table;
use super::unheeded::Unheeded;
use super::{defaults, form, rules, setting};
use crate::engine::BucketName;
use crate::model::types::{Kind, Precision};

/// The type of buckets that are named without one. It is there whatever the configuration says.
const DEFAULT: &str = "default";

/// The settings that were kept, in the order of their names.
#[derive(Debug, Default)]
struct Kept<'a> {
    types: Vec<(&'a [u8], List)>,
    buckets: Vec<(BucketName<'a>, List)>,
}

/// Builds the table, and the settings of types to keep: those whose data type no earlier start has kept.
///
/// # Errors
/// As [`PropertyTable::new`](super::PropertyTable::new).
pub(super) fn open(
    types: &[(String, Map<String, Value>)],
    settings: &[Setting],
    unheeded: &Unheeded,
) -> Result<(Table, Vec<Setting>), PropertyError> {
    let kept = Kept::read(settings)?;
    let (mut table, mut new_settings) = (Table::default(), Vec::new());
    let untyped = (DEFAULT.to_owned(), List::new());
    let has_default = types.iter().any(|(name, _)| name == DEFAULT);
    for (name, asked) in types.iter().chain((!has_default).then_some(&untyped)) {
        let kept_list = kept.list_of(name);
        let bucket_type = made(name, asked, kept_list, unheeded)?;
        unheeded.warn_of(&merged(asked, bucket_type.own()));
        unheeded.warn_of_unknown(name, asked);
        if kept_list.is_none() && name != DEFAULT {
            new_settings.push((setting::type_name(name.as_bytes()), setting::value(bucket_type.own())));
        }
        if table.of_type(name.as_bytes()).is_some() {
            return Err(PropertyError::new(format!("the bucket type {name} is there twice")));
        }
        table.put_type(name.as_bytes(), bucket_type);
    }
    for (bucket, own) in kept.buckets {
        unheeded.warn_of(&own);
        table.put_bucket(bucket, own);
    }
    Ok((table, new_settings))
}

impl<'a> Kept<'a> {
    fn read(settings: &'a [Setting]) -> Result<Self, PropertyError> {
        let mut kept = Self::default();
        for (name, value) in settings {
            match setting::owner(name) {
                Some(Owner::Type(bucket_type)) => {
                    kept.types.push((bucket_type, read_list(bucket_type, value)?))
                }
                Some(Owner::Bucket(bucket)) => kept.buckets.push((bucket, read_list(bucket.bucket, value)?)),
                None => {}
            }
        }
        Ok(kept)
    }

    fn list_of(&self, name: &str) -> Option<&List> {
        self.types.iter().find(|(kept, _)| *kept == name.as_bytes()).map(|(_, list)| list)
    }
}

fn read_list(owner: &[u8], value: &[u8]) -> Result<List, PropertyError> {
    let read = setting::list(value).map(|list| form::read(&list));
    match read {
        Some((list, wrong)) if wrong.is_empty() => Ok(list),
        _ => {
            let owner = String::from_utf8_lossy(owner);
            Err(PropertyError::new(format!("the properties that are kept of {owner} are damaged")))
        }
    }
}

/// Builds the type of this name, with the list that was set over HTTP, if there is one. The own list of a new
/// type notes its data type.
fn made(
    name: &str,
    asked: &List,
    kept: Option<&List>,
    unheeded: &Unheeded,
) -> Result<BucketType, PropertyError> {
    let defaults = defaults::of(name != DEFAULT);
    let mut configured = rules::make(asked, &defaults, unheeded).map_err(|reasons| {
        PropertyError::new(format!("the bucket type {name} cannot be: {}", Value::Object(reasons)))
    })?;
    if configured.get("datatype").is_some_and(|kind| kind == Kind::Distinct.name()) {
        configured.entry("hll_precision").or_insert_with(|| Precision::default().bits().into());
    }
    check_name(name, &configured)?;
    let own = match kept {
        Some(kept) => kept.clone(),
        None => configured.iter().filter(|(name, _)| *name == "datatype").map(owned).collect(),
    };
    check_datatype(name, &configured, &own)?;
    Ok(BucketType::new(merged(&defaults, &configured), own))
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn check_name(name: &str, configured: &List) -> Result<(), PropertyError> {
    if name.is_empty() {
        return Err(PropertyError::new("a bucket type has no name"));
    }
    if name == DEFAULT && configured.contains_key("datatype") {
        return Err(PropertyError::new("the bucket type default cannot have a datatype"));
    }
    Ok(())
}

/// Objects of one data type cannot be read as another.
fn check_datatype(name: &str, configured: &List, own: &List) -> Result<(), PropertyError> {
    let text = |list: &List| list.get("datatype").and_then(Value::as_str).unwrap_or("none").to_owned();
    let (now, before) = (text(configured), text(own));
    if now == before {
        return Ok(());
    }
    let text = format!("the datatype of the bucket type {name} was {before} and cannot become {now}");
    Err(PropertyError::new(text))
}
