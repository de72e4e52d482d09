//! Values that answers bring and later requests use.

use std::collections::HashMap;

use serde_json::Value;

use crate::wire::answer::Answer;
use crate::wire::multipart;

/// Names and their values.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    values: HashMap<String, String>,
    /// The answers that were taken so far.
    answers: usize,
}

impl Variables {
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a name; `%name` is with percent escapes, `x*3` is `xxx`.
    ///
    /// # Errors
    /// It has none.
    pub(crate) fn value(&self, name: &str) -> Result<String, String> {
        if let Some((text, count)) = name.split_once('*') {
            return Ok(text.repeat(count.parse().map_err(|_| format!("{{{name}}}: no count"))?));
        }
        if let Some(name) = name.strip_prefix('%') {
            return self.value(name).map(|value| escaped(&value));
        }
        self.values.get(name).cloned().ok_or_else(|| format!("nothing has set {{{name}}}"))
    }

    /// Takes what an answer brings.
    pub(crate) fn take(&mut self, answer: &Answer) {
        self.answers += 1;
        for (name, field) in FIELDS {
            if let Some(value) = answer.value(field) {
                self.set_taken(name, &value);
            }
        }
        if let Some(etag) = answer.value("etag") {
            self.set_taken("vtag", etag.trim_matches('"'));
        }
        if let Some(location) = answer.value("location") {
            self.set_taken("made", location.rsplit('/').next().unwrap_or_default());
        }
        if let Some(boundary) = answer.value("content-type").as_deref().and_then(multipart::boundary) {
            self.set_taken("boundary", boundary);
            self.take_parts(&answer.content, boundary);
        }
        self.take_content(&answer.content);
    }

    /// Takes the tag of a part that is a tombstone.
    fn take_parts(&mut self, content: &[u8], boundary: &str) {
        let parts = multipart::parts(content, boundary).unwrap_or_default();
        let tombstone = parts.iter().find(|part| part.value("x-riak-deleted").is_some());
        if let Some(tag) = tombstone.and_then(|part| part.value("etag")) {
            self.set_taken("deleted", &tag);
        }
    }

    fn take_content(&mut self, content: &[u8]) {
        let text = String::from_utf8_lossy(content);
        for (index, tag) in text.strip_prefix("Siblings:\n").unwrap_or_default().lines().enumerate() {
            self.set_taken(&format!("sibling{}", index + 1), tag);
        }
        let Ok(Value::Object(members)) = serde_json::from_slice(content) else { return };
        for name in ["context", "continuation"] {
            if let Some(Value::String(value)) = members.get(name) {
                self.set_taken(name, value);
            }
        }
    }

    fn set_taken(&mut self, name: &str, value: &str) {
        self.set(name, value);
        self.set(&format!("{name}@{}", self.answers), value);
    }
}

/// Variables that are the values of fields.
const FIELDS: [(&str, &str); 4] =
    [("vclock", "x-riak-vclock"), ("etag", "etag"), ("date", "last-modified"), ("location", "location")];

fn escaped(text: &str) -> String {
    let escaped = text.bytes().map(|byte| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    escaped.collect()
}
