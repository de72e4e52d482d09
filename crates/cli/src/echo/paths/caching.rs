//! `/cache`, `/etag` and `/response-headers`: answers with the validators and fields that a request asks for.

use std::time::SystemTime;

use alula::{
    Answer, FieldSection, KnownName, Status,
    conditional::{Validators, Verdict, evaluate},
};
use serde_json::{Map, Value};

use super::{
    asked::Asked,
    inspection,
    made::{JSON, Made},
};
use crate::random;

/// `/cache`: 304 to any condition.
pub(super) fn cache(asked: &Asked<'_>) -> Result<Made, Answer> {
    let conditions = [KnownName::IF_MODIFIED_SINCE, KnownName::IF_NONE_MATCH];
    if conditions.iter().any(|name| asked.headers().contains(*name)) {
        return Ok(Made::new(Status::NOT_MODIFIED));
    }
    let modified = httpdate::fmt_http_date(SystemTime::now());
    let etag = format!("\"{:016x}\"", random::number());
    let made = inspection::get(asked)?;
    made.header(KnownName::LAST_MODIFIED, modified)?.header(KnownName::ETAG, etag)
}

/// `/cache/SECONDS`.
pub(super) fn cache_for(asked: &Asked<'_>) -> Result<Made, Answer> {
    let seconds: u32 = asked.path_number("seconds")?;
    inspection::get(asked)?.header(KnownName::CACHE_CONTROL, format!("public, max-age={seconds}"))
}

/// `/etag/ETAG`: 304 or 412 as the conditions of the request have it.
pub(super) fn etag(asked: &Asked<'_>) -> Result<Made, Answer> {
    let text = asked.path_text("etag")?;
    let etag = format!("\"{}\"", text.trim_matches('"'));
    let method = asked.exchange.request().method();
    let made = match evaluate(method, asked.headers(), &Validators::present().etag(&etag)) {
        Verdict::NotModified => Made::new(Status::NOT_MODIFIED),
        Verdict::Failed => return Ok(Made::new(Status::PRECONDITION_FAILED)),
        _ => inspection::get(asked)?,
    };
    made.header(KnownName::ETAG, etag)
}

/// `/response-headers?name=value`: these fields, which are described in the content.
pub(super) fn response_headers(asked: &Asked<'_>) -> Result<Made, Answer> {
    let mut fields = FieldSection::new();
    for (name, value) in asked.pairs() {
        let known = KnownName::lookup_folded(name.as_bytes());
        // A peer that chose these could break off the connection, or split the answer in two.
        if known.is_some_and(|name| name.is_connection_specific() || OF_FRAMING.contains(&name)) {
            let detail = format!("{} cannot be asked for", name.to_ascii_lowercase());
            return Err(Answer::new(Status::BAD_REQUEST).detail(detail));
        }
        let malformed = |_| Answer::new(Status::BAD_REQUEST).detail("the query has a field that is none");
        fields.append(&*name, &value).map_err(malformed)?;
    }
    let (text, media_type) = (described(asked, &fields), fields.text(KnownName::CONTENT_TYPE));
    let made = Made::of(media_type.unwrap_or(JSON), text);
    fields
        .iter()
        .filter(|field| field.name() != "content-type")
        .try_fold(made, |made, field| made.header(field.name(), field.value()))
}

/// Fields without which nobody knows where an answer ends.
const OF_FRAMING: [KnownName; 2] = [KnownName::CONTENT_LENGTH, KnownName::TRAILER];

/// The fields of the answer in JSON, of which one is the length of the same JSON.
fn described(asked: &Asked<'_>, fields: &FieldSection) -> String {
    let mut object = Map::new();
    object.insert("Content-Type".to_owned(), JSON.into());
    for (name, value) in asked.pairs() {
        let is_type = name.eq_ignore_ascii_case("content-type");
        let name = if is_type { "Content-Type".to_owned() } else { name };
        let values: Vec<_> = fields.get_all(&*name).map(String::from_utf8_lossy).collect();
        let value = if values.len() > 1 && !is_type { values.into() } else { Value::from(value) };
        object.insert(name, value);
    }
    let (mut length, mut text) = (0, String::new());
    // The number of digits of a length settles at once.
    for _ in 0..4 {
        object.insert("Content-Length".to_owned(), length.to_string().into());
        text = format!("{:#}\n", Value::Object(object.clone()));
        if text.len() == length {
            break;
        }
        length = text.len();
    }
    text
}
