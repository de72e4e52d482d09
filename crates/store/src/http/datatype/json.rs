//! Values of data types in JSON, as clients read them.

use std::io::Write as _;

use crate::model::types::{Kind, Map, State, Value};

/// Appends the answer to a read of a data type: its kind, its value and, for kinds of which something can be
/// removed, the context.
pub(super) fn put_answer(state: &State<'_>, with_context: bool, out: &mut Vec<u8>) {
    let kind = state.value().kind();
    // A vector takes all that is written to it.
    let _ = write!(out, "{{\"type\":\"{}\",\"value\":", kind.name());
    put_value(state.value(), out);
    if with_context && matches!(kind, Kind::Set | Kind::Map) {
        let mut bytes = Vec::new();
        out.extend_from_slice(b",\"context\":\"");
        state.context(&mut bytes).write_text(out);
        out.push(b'"');
    }
    out.push(b'}');
}

/// Appends a value.
pub(crate) fn put_value(value: &Value<'_>, out: &mut Vec<u8>) {
    let written = match value {
        Value::Counter(counter) => write!(out, "{}", counter.value()),
        Value::Distinct(distinct) => write!(out, "{}", distinct.estimate()),
        Value::Flag(flag) => write!(out, "{}", flag.is_on()),
        Value::Register(register) => return put_text(register.value(), out),
        Value::Set(set) | Value::GrowSet(set) => return put_array(set.elements(), out),
        Value::Map(map) => return put_map(map, out),
    };
    debug_assert!(written.is_ok(), "a vector takes all that is written to it");
}

fn put_map(map: &Map<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, (name, value)) in map.fields().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        let name = [name, b"_", value.kind().name().as_bytes()].concat();
        put_text(&name, out);
        out.push(b':');
        put_value(value, out);
    }
    out.push(b'}');
}

fn put_array<'a>(elements: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, element) in elements.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_text(element, out);
    }
    out.push(b']');
}

/// Appends text. All of it came in JSON, so that it is UTF-8; what a damaged disk makes of it is marked.
fn put_text(text: &[u8], out: &mut Vec<u8>) {
    // A vector takes all that is written to it.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::types::{Change, Operation};
    use crate::model::{Actor, Dot, Moment};

    fn changed(kind: Kind, operations: Vec<Operation>) -> State<'static> {
        let mut state = State::new(kind);
        for (operation, count) in operations.into_iter().zip(1..) {
            let dot = Dot::new(Actor::new(1), count).expect("a count within its bounds");
            let change = Change { dot, now: Moment::from_micros(1), context: None };
            state.change(Box::leak(Box::new(operation)), &change).expect("it fits");
        }
        state
    }

    fn text(state: &State<'_>, with_context: bool) -> String {
        let mut out = Vec::new();
        put_answer(state, with_context, &mut out);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn counters_are_shown_up_to_64_bits() {
        let state = changed(Kind::Counter, vec![Operation::add(i64::MAX), Operation::add(0)]);
        assert_eq!(text(&state, true), r#"{"type":"counter","value":9223372036854775807}"#);
        let state = changed(Kind::Counter, vec![Operation::add(i64::MIN)]);
        assert_eq!(text(&state, true), r#"{"type":"counter","value":-9223372036854775808}"#);
    }

    #[test]
    fn sets_are_sorted_and_escaped() {
        let state = changed(Kind::Set, vec![Operation::set(["b", "a\"\\\n", "é", ""], [])]);
        assert_eq!(text(&state, false), r#"{"type":"set","value":["","a\"\\\n","b","é"]}"#);
        let with_context = text(&state, true);
        assert!(
            with_context.contains(r#","context":"AQ"#) && with_context.ends_with("\"}"),
            "{with_context}"
        );
    }

    #[test]
    fn what_only_grows_has_no_context() {
        let state = changed(Kind::GrowSet, vec![Operation::grow(["a"])]);
        assert_eq!(text(&state, true), r#"{"type":"gset","value":["a"]}"#);
        let state = changed(Kind::Distinct, vec![Operation::count(["a", "b"])]);
        assert_eq!(text(&state, true), r#"{"type":"hll","value":2}"#);
    }

    #[test]
    fn fields_of_maps_have_their_kinds_at_the_end() {
        let operation = super::super::operation::parse(
            Kind::Map,
            br#"{"update":{"n_counter":2,"f_flag":"enable","r_register":"x","s_set":{"add":"e"},"m_map":{"update":{"n_flag":"disable"}}}}"#,
        );
        let state = changed(Kind::Map, vec![operation.expect("a map").operation]);
        let expected = r#"{"type":"map","value":{"f_flag":true,"m_map":{"n_flag":false},"n_counter":2,"r_register":"x","s_set":["e"]}}"#;
        assert_eq!(text(&state, false), expected);
    }
}
