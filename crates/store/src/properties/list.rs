//! Lists of properties, as JSON.

use serde_json::{Map, Value};

/// Properties by their names.
pub(crate) type List = Map<String, Value>;

/// Merges two lists; a property in both has the value in `over`.
pub(super) fn merged(under: &List, over: &List) -> List {
    let mut list = under.clone();
    list.extend(over.iter().map(|(name, value)| (name.clone(), value.clone())));
    list
}

/// Returns true if the property is there and true.
pub(super) fn is_true(list: &List, name: &str) -> bool {
    list.get(name).and_then(Value::as_bool).unwrap_or(false)
}
