//! Operations on data types in JSON, as clients write them.
//!
//! The content of a request is an operation for the kind of the type, and beside it the context of what the
//! client was given.

mod reading;
mod values;

use std::fmt;

use crate::model::ContextError;
use crate::model::types::{Kind, Operation};

/// The operation that a client asks for, with its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The change.
    pub(crate) operation: Operation,
    /// The bytes of a context, if the request has one.
    pub(crate) context: Option<Vec<u8>>,
}

impl Asked {
    /// Returns how many bytes it holds until it is answered.
    pub(crate) fn held_bytes(&self) -> usize {
        self.operation.held_bytes() + self.context.as_ref().map_or(0, Vec::capacity)
    }
}

/// The reason for which content is no operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// The content is not JSON in UTF-8.
    Json(String),
    /// The operation does not exist for values of this kind.
    Operation(Kind),
    /// A number does not fit into 64 bits with a sign.
    Number,
    /// A field of a map has a name without a kind at its end.
    FieldName(String),
    /// The context cannot be read.
    Context(ContextError),
}

/// Reads an operation for a value of a kind.
///
/// # Errors
/// A [`Malformed`].
pub(crate) fn parse(kind: Kind, json: &[u8]) -> Result<Asked, Malformed> {
    reading::read(kind, json)
}

/// Returns the field of a name such as `age_counter`.
fn field_name(text: &str) -> Result<(&str, Kind), Malformed> {
    let parts = text.rsplit_once('_').and_then(|(name, kind)| Some((name, Kind::named(kind)?)));
    parts.ok_or_else(|| Malformed::FieldName(text.to_owned()))
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
    use crate::model::Context;
    use crate::model::types::FieldName;

    fn operation(kind: Kind, json: &str) -> Result<Operation, Malformed> {
        parse(kind, json.as_bytes()).map(|asked| asked.operation)
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
            assert_eq!(operation(Kind::Counter, json), Ok(Operation::add(number)), "{json}");
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
        let set = |adds: &[&str], removes: &[&str]| Ok(Operation::set(adds, removes));
        for (json, expected) in [
            (r#"{"add":"a"}"#, set(&["a"], &[])),
            (r#"{"remove":"a"}"#, set(&[], &["a"])),
            (r#"{"add_all":["b","a"],"remove_all":["c","d"]}"#, set(&["b", "a"], &["c", "d"])),
            (r#"{"add_all":[]}"#, set(&[], &[])),
            (r#"{"update":{"add":"a","remove":"b"}}"#, set(&["a"], &["b"])),
            (r#"{"update":[{"add":"a"},{"remove_all":["b"]}],"add":"c"}"#, set(&["a", "c"], &["b"])),
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
        assert_eq!(operation(Kind::GrowSet, r#"{"add":"a"}"#), Ok(Operation::grow(["a"])));
        assert_eq!(operation(Kind::Distinct, r#"{"add_all":["a","b"]}"#), Ok(Operation::count(["a", "b"])));
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
        let updates = [
            ("", Operation::grow(["g"])),
            ("a_b", Operation::add(1)),
            ("f", Operation::turn(false)),
            ("h", Operation::count(["h"])),
            ("m", Operation::map([("s", Operation::set(["e"], []))], [])),
            ("r", Operation::assign("x")),
        ];
        assert_eq!(operation(Kind::Map, json), Ok(Operation::map(updates, [field("x", Kind::Set)])));
        let one = Operation::map::<&str>([], [field("x", Kind::Set)]);
        assert_eq!(operation(Kind::Map, r#"{"remove":"x_set"}"#), Ok(one));
    }

    #[test]
    fn the_last_of_two_operations_on_a_field_counts() {
        let json = r#"{"update":{"b_counter":1,"a_flag":"enable","b_counter":2,"b_counter":3}}"#;
        let updates = [("a", Operation::turn(true)), ("b", Operation::add(3))];
        assert_eq!(operation(Kind::Map, json), Ok(Operation::map(updates, [])));
        for json in [
            r#"{"update":{"a_flag":"disable","c_counter":9},"remove":["y_set","z_set"],
                "update":{"b_counter":3,"a_flag":"enable"},"remove":"x_set"}"#,
            r#"{"remove":["x_set"],"update":{"a_flag":"enable","b_counter":3}}"#,
        ] {
            let updates = [("a", Operation::turn(true)), ("b", Operation::add(3))];
            let removes = [field("x", Kind::Set)];
            assert_eq!(operation(Kind::Map, json), Ok(Operation::map(updates, removes)), "{json}");
        }
    }

    #[test]
    fn a_fault_of_the_syntax_goes_before_others() {
        for (json, malformed) in [
            (r#"{"other":1}"#, Some(Malformed::Operation(Kind::Set))),
            (r#"{"other":1"#, None),
            (r#"{"add":7} x"#, None),
            (r#"{"context":"?","other":[}"#, None),
        ] {
            match (operation(Kind::Set, json), malformed) {
                (Err(found), Some(malformed)) => assert_eq!(found, malformed, "{json}"),
                (found, _) => assert!(matches!(found, Err(Malformed::Json(_))), "{json}: {found:?}"),
            }
        }
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
        assert_eq!(asked.context.as_deref(), Some(Context::EMPTY.as_bytes()));
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
