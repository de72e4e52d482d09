//! The rules for a list in view of other lists.

use serde_json::Value;

use super::form;
use super::list::{List, is_true, merged};
use super::resolved::precision;
use super::unheeded::Unheeded;

/// The most properties of a list whose form this store does not know. Clients that send a whole list back
/// have five of them; the rest is room for what programs note of their buckets.
const UNKNOWN_MAX: usize = 32;

/// The most bytes of names and JSON that these properties take together, so that 10 000 lists stay within
/// tens of megabytes.
const UNKNOWN_BYTES_MAX: usize = 4 * 1024;

/// The properties that stay as they are once a type is made.
const IMMUTABLE: [&str; 3] = ["consistent", "datatype", "write_once"];

/// Returns the list of a type from the configuration.
///
/// # Errors
/// A reason for each property that is refused.
pub(super) fn make(asked: &List, defaults: &List, unheeded: &Unheeded) -> Result<List, List> {
    let (asked, mut wrong) = form::read(asked);
    wrong.extend(unheeded.refused(&asked, defaults));
    if is_true(&asked, "consistent") {
        wrong.insert("consistent".into(), "is not supported".into());
    }
    wrong.extend(conflicts(&asked, &merged(defaults, &asked)));
    wrong.extend(excess(&asked, &asked));
    if wrong.is_empty() { Ok(asked) } else { Err(wrong) }
}

/// Returns the own list of a bucket or of a type after a request, checked together with the lists below it.
///
/// # Errors
/// A reason for each property that is refused.
pub(super) fn set(asked: &List, own: &List, inherited: &List, unheeded: &Unheeded) -> Result<List, List> {
    let (asked, mut wrong) = form::read(asked);
    let before = merged(inherited, own);
    let after = merged(own, &asked);
    wrong.extend(refused_changes(&asked, &before));
    wrong.extend(unheeded.refused(&asked, &before));
    wrong.extend(conflicts(&asked, &merged(inherited, &after)));
    wrong.extend(excess(&asked, &after));
    if wrong.is_empty() { Ok(after) } else { Err(wrong) }
}

/// Returns reasons for properties that must not change in this way.
fn refused_changes(asked: &List, before: &List) -> List {
    let mut wrong = List::new();
    for name in IMMUTABLE {
        let absent = if name == "datatype" { Value::Null } else { Value::Bool(false) };
        if asked.get(name).is_some_and(|value| value != before.get(name).unwrap_or(&absent)) {
            wrong.insert(name.into(), "cannot be changed".into());
        }
    }
    if precision(asked).is_some_and(|asked| asked > precision(before).unwrap_or_default()) {
        wrong.insert("hll_precision".into(), "cannot grow".into());
    }
    wrong
}

/// Returns reasons for properties that exclude each other. Only those that a request asks for are looked at.
fn conflicts(asked: &List, after: &List) -> List {
    let mut wrong = List::new();
    let asks_for = |names: &[&str]| names.iter().any(|name| asked.contains_key(*name));
    if asks_for(&["dvv_enabled", "last_write_wins"])
        && is_true(after, "dvv_enabled")
        && is_true(after, "last_write_wins")
    {
        wrong.insert("dvv_enabled".into(), "must be false where last_write_wins is true".into());
    }
    if asks_for(&["allow_mult"]) && after.contains_key("datatype") && !is_true(after, "allow_mult") {
        wrong.insert("allow_mult".into(), "must be true where there is a datatype".into());
    }
    wrong
}

/// Returns a reason for each property of an unknown form, if a list has too many of them, or too long ones.
fn excess(asked: &List, after: &List) -> List {
    let unknown = || after.iter().filter(|(name, _)| form::is_unknown(name));
    let bytes = unknown().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>();
    let reason = match (unknown().count(), bytes) {
        (count, _) if count > UNKNOWN_MAX => format!("more than {UNKNOWN_MAX} unknown properties"),
        (_, bytes) if bytes > UNKNOWN_BYTES_MAX => {
            format!("unknown properties of more than {UNKNOWN_BYTES_MAX} bytes")
        }
        _ => return List::new(),
    };
    let names = asked.keys().filter(|name| form::is_unknown(name));
    names.map(|name| (name.clone(), reason.clone().into())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::properties::defaults;

    fn list(value: Value) -> List {
        let Value::Object(list) = value else { panic!("{value} is no list") };
        list
    }

    fn set_over_untyped(asked: Value, own: Value) -> Result<Value, Value> {
        set(&list(asked), &list(own), &defaults::of(false), &Unheeded::default())
            .map(Value::Object)
            .map_err(Value::Object)
    }

    #[test]
    fn what_is_not_asked_for_stays() {
        let after = set_over_untyped(json!({"n_val": 1}), json!({"allow_mult": true, "n_val": 2}));
        assert_eq!(after, Ok(json!({"allow_mult": true, "n_val": 1})));
    }

    #[test]
    fn nothing_is_set_if_one_property_is_wrong() {
        let after = set_over_untyped(json!({"n_val": 1, "r": "x", "datatype": "set"}), json!({}));
        assert_eq!(after, Err(json!({"r": "not_valid_quorum", "datatype": "cannot be changed"})));
    }

    #[test]
    fn last_write_wins_and_dots_are_held_against_what_follows() {
        let refused = Err(json!({"dvv_enabled": "must be false where last_write_wins is true"}));
        assert_eq!(set_over_untyped(json!({"dvv_enabled": true}), json!({"last_write_wins": true})), refused);
        assert_eq!(set_over_untyped(json!({"last_write_wins": true}), json!({"dvv_enabled": true})), refused);
        assert!(set_over_untyped(json!({"last_write_wins": true}), json!({})).is_ok());
        let own = json!({"last_write_wins": true, "dvv_enabled": true});
        assert!(set_over_untyped(json!({"n_val": 1}), own).is_ok(), "neither is asked for");
    }

    #[test]
    fn a_precision_may_shrink_and_not_grow() {
        assert!(set_over_untyped(json!({"hll_precision": 14}), json!({})).is_ok());
        assert!(set_over_untyped(json!({"hll_precision": 15}), json!({})).is_err());
        assert!(set_over_untyped(json!({"hll_precision": 11}), json!({"hll_precision": 10})).is_err());
    }

    #[test]
    fn unknown_properties_are_few_and_short() {
        let many = |count| (0..count).map(|number| (format!("x{number}"), json!(1))).collect::<List>();
        let over_defaults =
            |asked: &List| set(asked, &List::new(), &defaults::of(false), &Unheeded::default());
        assert!(over_defaults(&many(UNKNOWN_MAX)).is_ok());
        let refused = over_defaults(&many(UNKNOWN_MAX + 1)).expect_err("one too many");
        assert_eq!(refused.len(), UNKNOWN_MAX + 1);
        let long = |bytes| list(json!({"x": "y".repeat(bytes)}));
        // The name takes one byte, and the marks around the text two.
        assert!(over_defaults(&long(UNKNOWN_BYTES_MAX - 3)).is_ok());
        assert!(over_defaults(&long(UNKNOWN_BYTES_MAX - 2)).is_err());
        let more = set(&many(1), &many(UNKNOWN_MAX), &defaults::of(false), &Unheeded::default());
        assert!(more.is_ok(), "one of those that are there");
    }

    #[test]
    fn types_are_made_of_what_fits() {
        let made =
            |asked| make(&list(asked), &defaults::of(true), &Unheeded::default()).map_err(Value::Object);
        assert!(made(json!({"datatype": "map", "write_once": true, "hll_precision": 16})).is_ok());
        assert_eq!(made(json!({"consistent": true})), Err(json!({"consistent": "is not supported"})));
        let refused = Err(json!({"allow_mult": "must be true where there is a datatype"}));
        assert_eq!(made(json!({"datatype": "set", "allow_mult": false})), refused);
        assert!(made(json!({"last_write_wins": true})).is_err());
        assert!(made(json!({"last_write_wins": true, "dvv_enabled": false})).is_ok());
    }
}
