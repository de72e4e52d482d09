//! JSON that is expected, and JSON that came.

use serde_json::{Deserializer, Map, Value};

use crate::wire::pattern::is_name;
use crate::wire::variables::Variables;

/// Returns the text if it is JSON once variables have values.
///
/// # Errors
/// It is not.
pub(crate) fn check(text: &str) -> Result<&str, String> {
    let replaced = replace(text, |_| Ok("0".to_owned()))?;
    serde_json::from_str::<Value>(&replaced).map(|_| text).map_err(|error| error.to_string())
}

/// The value of a text with variables.
///
/// # Errors
/// A variable has no value, or the text is no JSON.
pub(crate) fn expected(text: &str, variables: &Variables) -> Result<Value, String> {
    let replaced = replace(text, |name| variables.value(name))?;
    serde_json::from_str(&replaced).map_err(|error| error.to_string())
}

/// Reads content.
///
/// # Errors
/// It is no JSON.
pub(crate) fn read(content: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(content).map_err(|error| format!("no JSON: {error}"))
}

/// Reads a run of objects.
///
/// # Errors
/// It is something else.
pub(crate) fn objects(content: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let read: Result<Vec<_>, serde_json::Error> = Deserializer::from_slice(content).into_iter().collect();
    read.map_err(|error| format!("no run of objects: {error}"))
}

/// Returns true if the values are the same; `"{*}"` is any value.
pub(crate) fn is_same(wanted: &Value, came: &Value) -> bool {
    match (wanted, came) {
        (Value::String(text), _) if text == "{*}" => true,
        (Value::Object(wanted), Value::Object(came)) => {
            let has = |(name, value): (&String, &Value)| came.get(name).is_some_and(|it| is_same(value, it));
            wanted.len() == came.len() && wanted.iter().all(has)
        }
        (Value::Array(wanted), Value::Array(came)) => {
            wanted.len() == came.len() && wanted.iter().zip(came).all(|(wanted, came)| is_same(wanted, came))
        }
        _ => wanted == came,
    }
}

/// Returns true if all members of the wanted value are there.
pub(crate) fn is_held(wanted: &Value, came: &Value) -> bool {
    match (wanted, came) {
        (Value::Object(wanted), Value::Object(came)) => {
            wanted.iter().all(|(name, value)| came.get(name).is_some_and(|it| is_held(value, it)))
        }
        (Value::Array(wanted), Value::Array(came)) => {
            wanted.iter().all(|wanted| came.iter().any(|came| is_held(wanted, came)))
        }
        _ => is_same(wanted, came),
    }
}

/// The same members in the order of their texts.
pub(crate) fn sorted(list: &Value) -> Vec<String> {
    let mut texts: Vec<_> = list.as_array().into_iter().flatten().map(Value::to_string).collect();
    texts.sort();
    texts
}

fn replace(text: &str, value: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let mut parts = text.split('{');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, rest)) => all = all + &value(name)? + rest,
            None => all = all + "{" + part,
        }
    }
    Ok(all)
}

#[test]
fn what_is_the_same_and_what_is_held() {
    let value = |text: &str| serde_json::from_str::<Value>(text).expect(text);
    for (wanted, came, same, held) in [
        (r#"{"a":1}"#, r#"{"a":1}"#, true, true),
        (r#"{"a":"{*}"}"#, r#"{"a":[1]}"#, true, true),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false, true),
        (r#"{"a":1}"#, r#"{"a":2}"#, false, false),
        ("[1]", "[2,1]", false, true),
        ("[3]", "[2,1]", false, false),
    ] {
        assert_eq!(is_same(&value(wanted), &value(came)), same, "{wanted} {came}");
        assert_eq!(is_held(&value(wanted), &value(came)), held, "{wanted} {came}");
    }
}
