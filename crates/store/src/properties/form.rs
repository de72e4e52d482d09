//! The form of each property.

use std::fmt;

use serde_json::Value;

use super::list::List;
use super::resolved::SyncOnWrite;
use crate::model::types::Kind;

/// The kinds that a type may have.
const DATATYPES: [Kind; 5] = [Kind::Counter, Kind::Set, Kind::GrowSet, Kind::Map, Kind::Distinct];

/// The values and lists that a content may have. An object of one member takes some hundred times the bytes
/// of its JSON while it is read, held against its rules and kept; a list of a bucket has some sixty.
pub(crate) const VALUES_MAX: usize = 1_024;

/// The reason for which a content is no list of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoList {
    /// The content is not JSON of the form `{"props":{…}}`.
    Form,
    /// The list has more than [`VALUES_MAX`] values.
    Values,
}

impl fmt::Display for NoList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("The content must be JSON of the form {\"props\":{\"NAME\":VALUE}}"),
            Self::Values => write!(f, "The content has more than {VALUES_MAX} values"),
        }
    }
}

/// Returns the list in the content of a request, `{"props":{…}}`.
///
/// # Errors
/// A [`NoList`]. One of many values is found before any is made.
pub(crate) fn list_of_content(json: &[u8]) -> Result<List, NoList> {
    if values(json) > VALUES_MAX {
        return Err(NoList::Values);
    }
    let content: List = serde_json::from_slice(json).map_err(|_| NoList::Form)?;
    match content.into_iter().find(|(name, _)| name == "props") {
        Some((_, Value::Object(list))) => Ok(list),
        _ => Err(NoList::Form),
    }
}

/// Returns the bytes that the list in a content takes while it is read, checked and kept.
pub(crate) fn list_bytes(json: &[u8]) -> u64 {
    /// The copies of names and texts: in the content, the list, the properties, and as it is kept.
    const COPIES: u64 = 4;
    /// The memory of an object with one member, in the list and in the properties.
    const VALUE_BYTES: u64 = 2 * 1024;
    COPIES * json.len() as u64 + VALUE_BYTES * values(json).min(VALUES_MAX) as u64
}

/// Returns a lower bound for the number of values: counts the beginnings of arrays and objects, and
/// separators, outside of strings.
fn values(json: &[u8]) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b',' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}

/// Splits a list into properties in the right form, and reasons for the others. Those that say which list it
/// is are left out: clients send lists back as they read them.
pub(super) fn read(list: &List) -> (List, List) {
    let (mut properties, mut wrong) = (List::new(), List::new());
    for (name, value) in list.iter().filter(|(name, _)| !is_label(name)) {
        match read_one(name, value) {
            Ok(value) => properties.insert(name.clone(), value),
            Err(reason) => wrong.insert(name.clone(), reason.into()),
        };
    }
    (properties, wrong)
}

/// Returns true for properties whose form this store does not know. It keeps them as they are.
pub(super) fn is_unknown(name: &str) -> bool {
    rule(name) == Rule::Any
}

/// The form of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Label,
    Boolean,
    Positive,
    Replicas,
    /// A word, or a count that is at least this.
    Quorum(u32),
    Sync,
    Datatype,
    Precision,
    Any,
}

fn is_label(name: &str) -> bool {
    rule(name) == Rule::Label
}

fn rule(name: &str) -> Rule {
    match name {
        "name" | "active" | "claimant" => Rule::Label,
        "allow_mult" | "basic_quorum" | "consistent" | "dvv_enabled" | "last_write_wins" | "notfound_ok"
        | "write_once" => Rule::Boolean,
        "big_vclock" | "old_vclock" | "small_vclock" => Rule::Positive,
        "n_val" => Rule::Replicas,
        "r" | "rw" | "w" => Rule::Quorum(1),
        "dw" | "node_confirms" | "pr" | "pw" => Rule::Quorum(0),
        "sync_on_write" => Rule::Sync,
        "datatype" => Rule::Datatype,
        "hll_precision" => Rule::Precision,
        _ => Rule::Any,
    }
}

/// Reads the stored form of a value, or the reason for which it does not fit its property.
fn read_one(name: &str, value: &Value) -> Result<Value, &'static str> {
    let kept = |is_right: bool, reason| is_right.then(|| value.clone()).ok_or(reason);
    let within = |low: u64, high: u64| value.as_u64().is_some_and(|count| (low..=high).contains(&count));
    match rule(name) {
        Rule::Boolean => boolean(value).map(Value::Bool).ok_or("not_boolean"),
        Rule::Positive => kept(within(1, u64::MAX), "not_integer"),
        Rule::Replicas => kept(within(1, u32::MAX.into()), "not_integer"),
        Rule::Quorum(least) => {
            let is_word = matches!(value.as_str(), Some("one" | "quorum" | "all"));
            kept(is_word || within(least.into(), u32::MAX.into()), "not_valid_quorum")
        }
        Rule::Sync => kept(value.as_str().and_then(SyncOnWrite::named).is_some(), "not_valid_sync_param"),
        Rule::Datatype => kept(is_datatype(value), "must be one of counter, set, gset, map and hll"),
        Rule::Precision => kept(within(4, 16), "must be an integer from 4 to 16"),
        Rule::Label | Rule::Any => Ok(value.clone()),
    }
}

fn is_datatype(value: &Value) -> bool {
    value.as_str().and_then(Kind::named).is_some_and(|kind| DATATYPES.contains(&kind))
}

/// Reads a boolean, which older clients write as a word in any case, or as a number.
fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(word) if word.eq_ignore_ascii_case("true") => Some(true),
        Value::String(word) if word.eq_ignore_ascii_case("false") => Some(false),
        Value::Number(number) if number.is_u64() => Some(number.as_u64() != Some(0)),
        Value::Number(number) if number.is_i64() => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(value: Value) -> List {
        let Value::Object(list) = value else { panic!("{value} is no list") };
        list
    }

    #[test]
    fn a_content_has_one_form() {
        assert_eq!(list_of_content(br#"{"props":{"n_val":1}}"#), Ok(list(json!({"n_val": 1}))));
        assert_eq!(list_of_content(br#" {"a":1,"props":{}} "#), Ok(List::new()));
        let others =
            ["", "{", "[]", "{}", r#"{"props":[]}"#, r#"{"props":1}"#, r#"{"Props":{}}"#, "{\"props\":{}}x"];
        for json in others {
            assert_eq!(list_of_content(json.as_bytes()), Err(NoList::Form), "{json}");
        }
        assert_eq!(list_of_content(b"{\"props\":{\"a\":\"\xff\"}}"), Err(NoList::Form));
        let deep = |depth| format!(r#"{{"props":{{"a":{}1{}}}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert_eq!(list_of_content(deep(1_000).as_bytes()), Err(NoList::Form));
        assert_eq!(list_of_content(deep(5_000).as_bytes()), Err(NoList::Values));
    }

    #[test]
    fn contents_have_a_bounded_number_of_values() {
        let many = |count: usize| format!(r#"{{"props":{{"a":[{}1]}}}}"#, "1,".repeat(count - 4));
        assert!(list_of_content(many(VALUES_MAX).as_bytes()).is_ok());
        assert_eq!(list_of_content(many(VALUES_MAX + 1).as_bytes()), Err(NoList::Values));
        let text = format!(r#"{{"props":{{"a":"{}"}}}}"#, r#"{[,\"]}"#.repeat(2 * VALUES_MAX));
        assert!(list_of_content(text.as_bytes()).is_ok(), "a text is one value");
    }

    #[test]
    fn every_wrong_property_has_its_reason() {
        let asked = json!({
            "allow_mult": "perhaps", "basic_quorum": 1.5, "last_write_wins": null, "notfound_ok": [],
            "n_val": 0, "big_vclock": -1, "old_vclock": "1", "small_vclock": 1.5,
            "r": 0, "rw": "two", "w": -1, "dw": "none", "pr": 1.0, "pw": 4_294_967_296_u64, "node_confirms": true,
            "sync_on_write": "some", "datatype": "flag", "hll_precision": 17,
        });
        let (properties, wrong) = read(&list(asked));
        assert_eq!(properties, List::new());
        let expected = json!({
            "allow_mult": "not_boolean", "basic_quorum": "not_boolean", "last_write_wins": "not_boolean",
            "notfound_ok": "not_boolean", "n_val": "not_integer", "big_vclock": "not_integer",
            "old_vclock": "not_integer", "small_vclock": "not_integer", "r": "not_valid_quorum",
            "rw": "not_valid_quorum", "w": "not_valid_quorum", "dw": "not_valid_quorum", "pr": "not_valid_quorum",
            "pw": "not_valid_quorum", "node_confirms": "not_valid_quorum", "sync_on_write": "not_valid_sync_param",
            "datatype": "must be one of counter, set, gset, map and hll", "hll_precision": "must be an integer from 4 to 16",
        });
        assert_eq!(Value::Object(wrong), expected);
    }

    #[test]
    fn what_has_its_form_is_kept_as_it_is() {
        let asked = json!({
            "n_val": 1, "r": "one", "w": 2, "rw": "all", "dw": 0, "pr": "quorum", "pw": 0, "node_confirms": 1,
            "sync_on_write": "one", "young_vclock": "never", "search": {"a": [1.5, null]}, "datatype": "hll",
        });
        assert_eq!(read(&list(asked.clone())), (list(asked), List::new()));
    }

    #[test]
    fn booleans_may_be_words_and_numbers() {
        for (value, truth) in [
            (json!("TRUE"), true),
            (json!("False"), false),
            (json!(1), true),
            (json!(u64::MAX), true),
            (json!(0), false),
            (json!(-3), false),
        ] {
            assert_eq!(boolean(&value), Some(truth), "{value}");
        }
    }

    #[test]
    fn labels_are_left_out() {
        let asked = json!({"name": "b", "active": false, "claimant": 1});
        assert_eq!(read(&list(asked)), (List::new(), List::new()));
        assert!(is_unknown("young_vclock") && !is_unknown("n_val") && !is_unknown("name"));
    }
}
