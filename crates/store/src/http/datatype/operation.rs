//! Operations on data types in JSON, as clients write them.
//!
//! The content of a request is an operation for the kind of the type, and beside it the context of what the client was given.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::model::types::{FieldName, Kind, Operation};
use crate::model::{Context, ContextError};

/// The operation that a client asks for, with its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The change.
    pub(crate) operation: Operation,
    /// The octets of a context, if the request has one.
    pub(crate) context: Option<Vec<u8>>,
}

/// The reason for which content is no operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is not JSON in UTF-8.
    Json(String),
    /// It is none for values of this kind.
    Operation(Kind),
    /// A number does not fit into 64 bits with a sign.
    Number,
    /// A field of a map has a name without a kind at its end.
    FieldName(String),
    /// The context is none.
    Context(ContextError),
}

/// Reads an operation for a value of a kind.
///
/// # Errors
/// A [`Malformed`].
pub(crate) fn parse(kind: Kind, json: &[u8]) -> Result<Asked, Malformed> {
    let mut content: Value =
        serde_json::from_slice(json).map_err(|error| Malformed::Json(error.to_string()))?;
    let context = content.as_object_mut().and_then(|members| members.remove("context"));
    Ok(Asked { context: context.map(read_context).transpose()?, operation: read(kind, content)? })
}

fn read_context(context: Value) -> Result<Vec<u8>, Malformed> {
    let Value::String(text) = context else { return Err(Malformed::Context(ContextError::Text)) };
    let mut octets = Vec::new();
    Context::from_text(text.as_bytes(), &mut octets).map_err(Malformed::Context)?;
    Ok(octets)
}

fn read(kind: Kind, operation: Value) -> Result<Operation, Malformed> {
    match kind {
        Kind::Counter => read_counter(operation).map(Operation::Add),
        Kind::Set => read_set(operation),
        Kind::GrowSet => read_adds(kind, operation).map(Operation::Grow),
        Kind::Distinct => read_adds(kind, operation).map(Operation::Count),
        Kind::Map => read_map(operation),
        Kind::Register => read_register(operation).map(Operation::Assign),
        Kind::Flag => read_flag(&operation).map(Operation::Turn),
    }
}

fn read_counter(operation: Value) -> Result<i64, Malformed> {
    let wrong = Malformed::Operation(Kind::Counter);
    match operation {
        Value::Number(_) => whole(&operation),
        Value::String(word) if word == "increment" => Ok(1),
        Value::String(word) if word == "decrement" => Ok(-1),
        Value::Object(members) => match only_member(members).ok_or(wrong.clone())? {
            (name, number) if name == "increment" => whole(&number),
            (name, number) if name == "decrement" => whole(&number)?.checked_neg().ok_or(Malformed::Number),
            _ => Err(wrong),
        },
        _ => Err(wrong),
    }
}

fn whole(number: &Value) -> Result<i64, Malformed> {
    match number {
        Value::Number(number) => number.as_i64().ok_or(Malformed::Number),
        _ => Err(Malformed::Operation(Kind::Counter)),
    }
}

/// The elements that an operation on a set names.
#[derive(Debug, Default)]
struct Elements {
    adds: Vec<Vec<u8>>,
    removes: Vec<Vec<u8>>,
}

impl Elements {
    /// Reads members of these names; `update` has such members again, once or in an array.
    fn read(&mut self, kind: Kind, operation: Value, names: &[&str]) -> Result<(), Malformed> {
        let wrong = || Malformed::Operation(kind);
        let Value::Object(members) = operation else { return Err(wrong()) };
        if members.is_empty() {
            return Err(wrong());
        }
        for (name, value) in members.into_iter() {
            match name.as_str() {
                known if !names.contains(&known) => return Err(wrong()),
                "add" => self.adds.push(string(value).ok_or_else(wrong)?),
                "remove" => self.removes.push(string(value).ok_or_else(wrong)?),
                "add_all" => self.adds.extend(strings(value).ok_or_else(wrong)?),
                "remove_all" => self.removes.extend(strings(value).ok_or_else(wrong)?),
                _ => {
                    for operation in one_or_more(value) {
                        self.read(kind, operation, names)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn read_set(operation: Value) -> Result<Operation, Malformed> {
    let mut elements = Elements::default();
    elements.read(Kind::Set, operation, &["add", "add_all", "remove", "remove_all", "update"])?;
    // What is added too is there afterwards, whatever was there before.
    let adds: BTreeSet<_> = elements.adds.iter().collect();
    elements.removes.retain(|element| !adds.contains(element));
    Ok(Operation::Set { adds: elements.adds, removes: elements.removes })
}

fn read_adds(kind: Kind, operation: Value) -> Result<Vec<Vec<u8>>, Malformed> {
    let mut elements = Elements::default();
    elements.read(kind, operation, &["add", "add_all"])?;
    Ok(elements.adds)
}

fn read_map(operation: Value) -> Result<Operation, Malformed> {
    let wrong = || Malformed::Operation(Kind::Map);
    let Value::Object(members) = operation else { return Err(wrong()) };
    if members.is_empty() {
        return Err(wrong());
    }
    let (mut updates, mut removes) = (Vec::new(), Vec::new());
    for (name, value) in members {
        match name.as_str() {
            "update" => updates = read_updates(value)?,
            "remove" => removes = one_or_more(value).map(read_field_name).collect::<Result<_, _>>()?,
            _ => return Err(wrong()),
        }
    }
    Ok(Operation::Map { updates, removes })
}

fn read_updates(updates: Value) -> Result<Vec<(FieldName, Operation)>, Malformed> {
    let Value::Object(fields) = updates else { return Err(Malformed::Operation(Kind::Map)) };
    let update = |(name, operation): (String, Value)| {
        let name = field_name(&name)?;
        let operation = read(name.kind, operation)?;
        Ok((name, operation))
    };
    fields.into_iter().map(update).collect()
}

fn read_field_name(name: Value) -> Result<FieldName, Malformed> {
    match name {
        Value::String(name) => field_name(&name),
        _ => Err(Malformed::Operation(Kind::Map)),
    }
}

/// The field of a name such as `age_counter`.
fn field_name(text: &str) -> Result<FieldName, Malformed> {
    let parts = text.rsplit_once('_').and_then(|(name, kind)| Some((name, Kind::named(kind)?)));
    let (name, kind) = parts.ok_or_else(|| Malformed::FieldName(text.to_owned()))?;
    Ok(FieldName { name: name.as_bytes().to_vec(), kind })
}

fn read_register(operation: Value) -> Result<Vec<u8>, Malformed> {
    let assigned = match operation {
        Value::Object(members) => {
            only_member(members).filter(|(name, _)| name == "assign").map(|(_, value)| value)
        }
        other => Some(other),
    };
    assigned.and_then(string).ok_or(Malformed::Operation(Kind::Register))
}

fn read_flag(operation: &Value) -> Result<bool, Malformed> {
    match operation.as_str() {
        Some("enable") => Ok(true),
        Some("disable") => Ok(false),
        _ => Err(Malformed::Operation(Kind::Flag)),
    }
}

fn only_member(members: Map<String, Value>) -> Option<(String, Value)> {
    let mut members = members.into_iter();
    members.next().filter(|_| members.len() == 0)
}

fn one_or_more(value: Value) -> impl Iterator<Item = Value> {
    match value {
        Value::Array(values) => values.into_iter(),
        value => vec![value].into_iter(),
    }
}

fn string(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.into_bytes()),
        _ => None,
    }
}

fn strings(value: Value) -> Option<Vec<Vec<u8>>> {
    match value {
        Value::Array(values) => values.into_iter().map(string).collect(),
        _ => None,
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "The content is not JSON: {error}"),
            Self::Operation(kind) => {
                write!(f, "The content has no valid operation for the datatype {}", kind.name())
            }
            Self::Number => f.write_str("A counter is changed by a whole number of 64 bits with a sign"),
            Self::FieldName(name) => {
                write!(f, "The name of the field {name:?} does not end in the name of a datatype")
            }
            Self::Context(error) => write!(f, "Bad context: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(kind: Kind, json: &str) -> Result<Operation, Malformed> {
        parse(kind, json.as_bytes()).map(|asked| asked.operation)
    }

    fn octets(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn field(name: &str, kind: Kind) -> FieldName {
        FieldName { name: name.as_bytes().to_vec(), kind }
    }

    #[test]
    fn counters_are_changed_by_numbers_and_words() {
        for (json, number) in [
            ("5", 5),
            ("-3", -3),
            ("\"increment\"", 1),
            ("\"decrement\"", -1),
            ("{\"increment\":7}", 7),
            ("{\"decrement\":7}", -7),
            ("{\"increment\":-7}", -7),
            ("{\"increment\":2,\"context\":\"AQ==\"}", 2),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(operation(Kind::Counter, json), Ok(Operation::Add(number)), "{json}");
        }
    }

    #[test]
    fn numbers_of_any_size_are_read_or_refused() {
        for json in [
            "9223372036854775808",
            "-9223372036854775809",
            "1.5",
            "1e3",
            "100000000000000000000000000000000000000000",
            "{\"decrement\":-9223372036854775808}",
            "{\"increment\":18446744073709551616}",
        ] {
            assert_eq!(operation(Kind::Counter, json), Err(Malformed::Number), "{json}");
        }
        assert!(matches!(operation(Kind::Counter, "1e999"), Err(Malformed::Json(_))));
        for json in [
            "\"add\"",
            "{}",
            "null",
            "[1]",
            "{\"increment\":1,\"decrement\":1}",
            "{\"increment\":\"1\"}",
            "{\"add\":1}",
        ] {
            assert_eq!(operation(Kind::Counter, json), Err(Malformed::Operation(Kind::Counter)), "{json}");
        }
    }

    #[test]
    fn sets_take_elements_by_one_and_by_many() {
        let set = |adds: &[&str], removes: &[&str]| {
            Ok(Operation::Set { adds: octets(adds), removes: octets(removes) })
        };
        for (json, expected) in [
            (r#"{"add":"a"}"#, set(&["a"], &[])),
            (r#"{"remove":"a"}"#, set(&[], &["a"])),
            (r#"{"add_all":["b","a"],"remove_all":["c","d"]}"#, set(&["b", "a"], &["c", "d"])),
            (r#"{"add_all":[]}"#, set(&[], &[])),
            (r#"{"update":{"add":"a","remove":"b"}}"#, set(&["a"], &["b"])),
            (r#"{"update":[{"add":"a"},{"remove_all":["b"]}],"add":"c"}"#, set(&["c", "a"], &["b"])),
            (r#"{"add":"a","remove":"a"}"#, set(&["a"], &[])),
        ] {
            assert_eq!(operation(Kind::Set, json), expected, "{json}");
        }
        for json in [
            "{}",
            "[]",
            "1",
            r#""a""#,
            r#"{"add":1}"#,
            r#"{"add_all":"a"}"#,
            r#"{"add_all":[1]}"#,
            r#"{"increment":1}"#,
            r#"{"update":{}}"#,
            r#"{"context":"AQ=="}"#,
        ] {
            assert_eq!(operation(Kind::Set, json), Err(Malformed::Operation(Kind::Set)), "{json}");
        }
    }

    #[test]
    fn what_only_grows_takes_no_removals() {
        assert_eq!(operation(Kind::GrowSet, r#"{"add":"a"}"#), Ok(Operation::Grow(octets(&["a"]))));
        assert_eq!(
            operation(Kind::Distinct, r#"{"add_all":["a","b"]}"#),
            Ok(Operation::Count(octets(&["a", "b"])))
        );
        for kind in [Kind::GrowSet, Kind::Distinct] {
            for json in [r#"{"remove":"a"}"#, r#"{"update":{"add":"a"}}"#, "{}", "1"] {
                assert_eq!(operation(kind, json), Err(Malformed::Operation(kind)), "{json}");
            }
        }
    }

    #[test]
    fn maps_have_operations_in_operations() {
        let json = r#"{"update":{"a_b_counter":1,"f_flag":"disable","r_register":{"assign":"x"},
            "m_map":{"update":{"s_set":{"add":"e"}}},"_gset":{"add":"g"},"h_hll":{"add":"h"}},"remove":["x_set"]}"#;
        let inner = Operation::Map {
            updates: vec![(
                field("s", Kind::Set),
                Operation::Set { adds: octets(&["e"]), removes: Vec::new() },
            )],
            removes: Vec::new(),
        };
        let updates = vec![
            (field("", Kind::GrowSet), Operation::Grow(octets(&["g"]))),
            (field("a_b", Kind::Counter), Operation::Add(1)),
            (field("f", Kind::Flag), Operation::Turn(false)),
            (field("h", Kind::Distinct), Operation::Count(octets(&["h"]))),
            (field("m", Kind::Map), inner),
            (field("r", Kind::Register), Operation::Assign(b"x".to_vec())),
        ];
        assert_eq!(
            operation(Kind::Map, json),
            Ok(Operation::Map { updates, removes: vec![field("x", Kind::Set)] })
        );
        let one = Operation::Map { updates: Vec::new(), removes: vec![field("x", Kind::Set)] };
        assert_eq!(operation(Kind::Map, r#"{"remove":"x_set"}"#), Ok(one));
    }

    #[test]
    fn maps_refuse_other_names_and_kinds() {
        for name in ["x", "x_thing", "set", "", "x_SET", "x_"] {
            let malformed = Err(Malformed::FieldName(name.to_owned()));
            assert_eq!(operation(Kind::Map, &format!("{{\"remove\":\"{name}\"}}")), malformed, "{name}");
            assert_eq!(
                operation(Kind::Map, &format!("{{\"update\":{{\"{name}\":1}}}}")),
                malformed,
                "{name}"
            );
        }
        for (json, kind) in [
            (r#"{"update":{"a_flag":true}}"#, Kind::Flag),
            (r#"{"update":{"a_register":1}}"#, Kind::Register),
            (r#"{"update":{"a_register":{"set":"x"}}}"#, Kind::Register),
            (r#"{"update":{"a_set":{"remove_all":1}}}"#, Kind::Set),
            (r#"{"update":{"a_map":{"context":"AQ=="}}}"#, Kind::Map),
            (r#"{"update":[]}"#, Kind::Map),
            (r#"{"remove":1}"#, Kind::Map),
            (r#"{"add":["a_set"]}"#, Kind::Map),
            ("{}", Kind::Map),
            ("3", Kind::Map),
        ] {
            assert_eq!(operation(Kind::Map, json), Err(Malformed::Operation(kind)), "{json}");
        }
    }

    #[test]
    fn a_context_is_read_beside_the_operation() {
        let asked = parse(Kind::Set, br#"{"remove":"a","context":"AQ=="}"#).expect("a context of nothing");
        assert_eq!(asked.context.as_deref(), Some(Context::EMPTY.as_octets()));
        for (json, error) in [
            (r#"{"add":"a","context":"?"}"#, ContextError::Text),
            (r#"{"add":"a","context":"Ag=="}"#, ContextError::Version),
            (r#"{"add":"a","context":7}"#, ContextError::Text),
        ] {
            assert_eq!(operation(Kind::Set, json), Err(Malformed::Context(error)), "{json}");
        }
    }

    #[test]
    fn what_is_not_json_in_utf8_is_refused() {
        for json in [&b"{\"add\":\"\xff\"}"[..], b"", b"{", b"{\"add\":\"\\ud800\"}", b"1 2", b"\xff"] {
            assert!(matches!(parse(Kind::Set, json), Err(Malformed::Json(_))), "{json:?}");
        }
        let deep = format!("{}1", "{\"update\":".repeat(100_000));
        assert!(matches!(parse(Kind::Set, deep.as_bytes()), Err(Malformed::Json(_))));
    }
}
