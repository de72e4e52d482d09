//! `/get`, `/post`, `/anything` and others: the request in JSON, with the members that httpbin has.

use std::time::Duration;

use alula::{Answer, KnownName};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    asked::{Asked, seconds},
    form::Form,
    made::{BYTES, Cut, JSON, Made, Pace},
};
use crate::text::json::latin1_text;

/// The members of a description, by kind of path.
const QUERIED: [&str; 4] = ["url", "args", "headers", "origin"];
const SENT: [&str; 8] = ["url", "args", "form", "data", "origin", "headers", "files", "json"];
const ANYTHING: [&str; 9] = ["url", "args", "headers", "origin", "method", "form", "data", "files", "json"];
const DELAYED: [&str; 7] = ["url", "args", "form", "data", "origin", "headers", "files"];
const CODED: [&str; 3] = ["origin", "headers", "method"];

/// Lines of `/stream/N` at most.
const LINES_MAX: u32 = 100;

/// `/get`, and what is said of a request without content elsewhere.
pub(super) fn get(asked: &Asked<'_>) -> Result<Made, Answer> {
    members(asked, &QUERIED, [])
}

/// `/post`, `/put`, `/patch`, `/delete`.
pub(super) fn sent(asked: &Asked<'_>) -> Result<Made, Answer> {
    members(asked, &SENT, [])
}

/// `/anything` and what is below it.
pub(super) fn anything(asked: &Asked<'_>) -> Result<Made, Answer> {
    members(asked, &ANYTHING, [])
}

/// `/headers`.
pub(super) fn headers(asked: &Asked<'_>) -> Result<Made, Answer> {
    members(asked, &["headers"], [])
}

/// `/ip`.
pub(super) fn ip(asked: &Asked<'_>) -> Result<Made, Answer> {
    members(asked, &["origin"], [])
}

/// `/user-agent`.
pub(super) fn user_agent(asked: &Asked<'_>) -> Result<Made, Answer> {
    let agent = asked.headers().get(KnownName::USER_AGENT).map(latin1_text);
    Made::json(&json!({ "user-agent": agent }), 0)
}

/// `/gzip` and the like, before it is coded.
pub(super) fn coded(asked: &Asked<'_>, coded: &str) -> Result<Made, Answer> {
    members(asked, &CODED, [(coded, Value::Bool(true))])
}

/// `/delay/N`: the same as for `/post`, after so many seconds.
pub(super) fn delay(asked: &Asked<'_>) -> Result<Made, Answer> {
    let before = seconds(asked.path_number("seconds")?).unwrap_or_default();
    let made = members(asked, &DELAYED, [])?;
    Ok(made.paced(Pace { before, cut: Cut::Bytes(usize::MAX), pause: Duration::ZERO, states_length: true }))
}

/// `/stream/N`: a line of JSON for each of so many.
pub(super) fn stream(asked: &Asked<'_>) -> Result<Made, Answer> {
    let count = asked.path_number::<u32>("lines")?.min(LINES_MAX);
    let mut described = described(asked, &QUERIED);
    let mut lines = String::new();
    for id in 0..count {
        described.insert("id".to_owned(), id.into());
        lines.push_str(&crate::text::json::to_ascii(&Value::Object(described.clone()).to_string()));
        lines.push('\n');
    }
    let pace = Pace { before: Duration::ZERO, cut: Cut::Lines, pause: Duration::ZERO, states_length: false };
    Ok(Made::of(JSON, lines).paced(pace))
}

/// JSON with these members of the request, and others.
fn members<const N: usize>(
    asked: &Asked<'_>,
    names: &[&str],
    others: [(&str, Value); N],
) -> Result<Made, Answer> {
    let mut described = described(asked, names);
    described.extend(others.map(|(name, value)| (name.to_owned(), value)));
    let bytes = asked.content.len() + asked.headers().bytes() + asked.exchange.request().path().len();
    Made::json(&described, bytes)
}

fn described(asked: &Asked<'_>, names: &[&str]) -> Map<String, Value> {
    let pairs = || Form::of_pairs(asked.headers(), asked.content);
    let form = names.contains(&"form").then(|| asked.parts.cloned().or_else(pairs)).flatten();
    let is_form = form.is_some();
    let Form { values, files } = form.unwrap_or_default();
    let (mut values, mut files) = (Some(values), Some(files));
    let mut member = |name: &str| match name {
        "url" => url(asked).into(),
        "args" => gathered(asked.pairs().into_iter().map(|(name, value)| (name, value.into()))),
        "headers" => header_members(asked),
        "origin" => asked.exchange.client_address().to_string().into(),
        "method" => asked.exchange.request().method().into(),
        "form" => gathered(values.take().into_iter().flatten().map(|(name, value)| (name, value.into()))),
        "files" => gathered(files.take().into_iter().flatten().map(file)),
        // The content of a form is shown as such.
        "data" if is_form => "".into(),
        "data" => text_or_data(asked.content, BYTES).into(),
        "json" if is_form => Value::Null,
        "json" => serde_json::from_slice(asked.content).unwrap_or_default(),
        _ => Value::Null,
    };
    names.iter().map(|name| ((*name).to_owned(), member(name))).collect()
}

/// The URL that was asked for, for links that lead back here too.
pub(super) fn url(asked: &Asked<'_>) -> String {
    format!("{}{}", origin(asked), asked.exchange.request().path())
}

/// Scheme and authority of the request.
pub(super) fn origin(asked: &Asked<'_>) -> String {
    let request = asked.exchange.request();
    format!("{}://{}", request.scheme().unwrap_or("http"), request.client_authority().unwrap_or_default())
}

fn file((name, media_type, content): (String, String, Vec<u8>)) -> (String, Value) {
    (name, text_or_data(&content, &media_type).into())
}

/// Text as it is, and other bytes as a `data:` URL (RFC 2397).
fn text_or_data(bytes: &[u8], media_type: &str) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("data:{media_type};base64,{}", STANDARD.encode(bytes)),
    }
}

/// Pairs as an object; several values of one name are a list.
fn gathered(pairs: impl Iterator<Item = (String, Value)>) -> Value {
    let mut object = Map::new();
    for (name, value) in pairs {
        match object.get_mut(&name) {
            None => drop(object.insert(name, value)),
            Some(Value::Array(all)) => all.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Value::Object(object)
}

/// The fields, each name once, spelled as gateways of HTTP/1.1 spell them.
fn header_members(asked: &Asked<'_>) -> Value {
    let mut object: Map<String, Value> = Map::new();
    let authority = asked.exchange.request().authority().map(|host| ("host", host.as_bytes()));
    let fields = asked.headers().iter().map(|field| (field.name().as_str(), field.value()));
    for (name, value) in fields.chain(authority) {
        let (spelled, value) = (spelled(name), latin1_text(value));
        match object.get_mut(&spelled) {
            Some(_) if name == "host" => {}
            Some(Value::String(all)) => {
                all.push_str(if name == "cookie" { "; " } else { "," });
                all.push_str(&value);
            }
            _ => drop(object.insert(spelled, value.into())),
        }
    }
    Value::Object(object)
}

/// A name with a capital at the beginning of each word.
fn spelled(name: &str) -> String {
    let mut is_first = true;
    let letter = |character: char| {
        let letter = if is_first { character.to_ascii_uppercase() } else { character.to_ascii_lowercase() };
        is_first = character == '-';
        letter
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_with_capitals() {
        for (name, expected) in [("user-agent", "User-Agent"), ("DNT", "Dnt"), ("x--a", "X--A"), ("", "")] {
            assert_eq!(spelled(name), expected);
        }
    }

    #[test]
    fn several_values_are_a_list() {
        let pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")];
        let object = gathered(pairs.map(|(name, value)| (name.to_owned(), value.into())).into_iter());
        assert_eq!(object, json!({ "a": ["1", "3", "4"], "b": "2" }));
    }

    #[test]
    fn bytes_that_are_no_text_are_a_url() {
        assert_eq!(text_or_data("é".as_bytes(), BYTES), "é");
        assert_eq!(text_or_data(&[0xff, 0xfe], "image/x"), "data:image/x;base64,//4=");
    }
}
