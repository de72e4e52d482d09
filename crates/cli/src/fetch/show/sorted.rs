//! JSON with the members of its objects sorted by name.

use serde_json::value::RawValue;

use crate::fetch::plan::members::Members;

/// Sorts valid JSON at each level. Numbers and strings stay as they are written, and of members with one name
/// the first stays first. It is as deep as the parser allows, 128 levels.
pub(super) fn sorted(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    write(json, &mut out);
    out
}

fn write(json: &str, out: &mut String) {
    let json = json.trim();
    match json.as_bytes().first() {
        Some(b'{') => {
            let Members(mut members) = serde_json::from_str(json).unwrap_or_default();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&serde_json::Value::String(name.clone()).to_string());
                out.push(':');
                write(value.get(), out);
            }
            out.push('}');
        }
        Some(b'[') => {
            let elements: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap_or_default();
            out.push('[');
            for (at, value) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write(value.get(), out);
            }
            out.push(']');
        }
        _ => out.push_str(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_all_else_stays() {
        for (json, expected) in [
            (
                r#" {"b": 1.50, "a": {"d": [ {"f":0,"e":1} ], "c": "é"}} "#,
                r#"{"a":{"c":"é","d":[{"e":1,"f":0}]},"b":1.50}"#,
            ),
            (r#"{"a":2,"a":1}"#, r#"{"a":2,"a":1}"#),
            ("[3,1, 2]", "[3,1,2]"),
            (" 1e400 ", "1e400"),
            ("{}", "{}"),
        ] {
            assert_eq!(sorted(json), expected);
        }
    }
}
