//! Sends a single content as a response: its value, with the fields that describe it.

use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use alula::{FieldError, FieldSection, KnownName, Reply, Scratch};

use super::shown::{coding, media_type};
use crate::http::answer::fail::Outcome;
use crate::http::answer::sending::Paced;
use crate::http::object::vclock::VCLOCK;
use crate::http::target::Target;
use crate::http::walk::links::{LINE_BYTES_MAX, SEPARATOR};
use crate::http::{answer::fail::Fail, walk::links};
use crate::model::{Attribute, Content, Context, Moment, Record};

/// The field that marks a deleted content.
pub(super) const DELETED: &str = "x-riak-deleted";

/// Sends a content of a record. Allocates nothing once warm.
pub(super) async fn send(
    mut reply: Reply,
    target: &Target,
    record: &Record<'_>,
    content: &Content<'_>,
    paced: Paced<'_>,
) -> Outcome {
    let headers = reply.headers_mut();
    describe(headers, target, record, content).map_err(Fail::from)?;
    paced.send_parts(reply, &[content.value()]).await
}

/// Returns a reply with the fields of a content, for other bytes in place of its value.
pub(super) fn described(
    mut reply: Reply,
    target: &Target,
    record: &Record<'_>,
    content: &Content<'_>,
) -> Result<Reply, Fail> {
    describe(reply.headers_mut(), target, record, content)?;
    Ok(reply)
}

fn describe(
    headers: &mut FieldSection,
    target: &Target,
    record: &Record<'_>,
    content: &Content<'_>,
) -> Result<(), FieldError> {
    headers.append(KnownName::CONTENT_TYPE, media_type(content))?;
    put_context(headers, record.context(&mut Scratch::lend()))?;
    let mut text = Scratch::lend();
    put_tag(headers, content.vtag().text().as_bytes(), &mut text)?;
    put_modified(headers, content.modified(), &mut text)?;
    let put_line = |line: &[u8]| headers.append(KnownName::LINK, line);
    links::each_line(content, target.bucket(), target.form, &mut text, put_line)?;
    if let Some(coding) = coding(content) {
        headers.append(KnownName::CONTENT_ENCODING, coding)?;
        headers.append(KnownName::VARY, "Accept-Encoding")?;
    }
    if content.is_deleted() {
        headers.append(DELETED, "true")?;
    }
    put_attributes(headers, content, &mut text)
}

/// Adds the field with the context of the object.
pub(super) fn put_context(headers: &mut FieldSection, context: Context<'_>) -> Result<(), FieldError> {
    let mut text = Scratch::lend();
    context.write_text(&mut text);
    headers.append(VCLOCK, &text[..])
}

/// Adds the field `etag` with the tag in quotes.
pub(super) fn put_tag(headers: &mut FieldSection, tag: &[u8], text: &mut Vec<u8>) -> Result<(), FieldError> {
    text.clear();
    text.push(b'"');
    text.extend_from_slice(tag);
    text.push(b'"');
    headers.append(KnownName::ETAG, &text[..])
}

pub(super) fn put_modified(
    headers: &mut FieldSection,
    modified: Moment,
    text: &mut Vec<u8>,
) -> Result<(), FieldError> {
    text.clear();
    write_date(modified, text);
    headers.append(KnownName::LAST_MODIFIED, &text[..])
}

/// Appends a date (RFC 9110 §5.6.7). The last one that has four digits for its year stands for those after
/// it.
pub(super) fn write_date(moment: Moment, out: &mut Vec<u8>) {
    const SECONDS_MAX: u64 = 253_402_300_799;
    let date = UNIX_EPOCH + Duration::from_secs(moment.seconds().min(SECONDS_MAX));
    // A vector takes all that is written.
    let _ = write!(out, "{}", httpdate::HttpDate::from(date));
}

/// Adds the metadata, and the fields of indexes with their terms; a long list takes several lines.
fn put_attributes(
    headers: &mut FieldSection,
    content: &Content<'_>,
    text: &mut Vec<u8>,
) -> Result<(), FieldError> {
    let mut index: Option<&[u8]> = None;
    let mut whole = Scratch::lend();
    let mut put = |prefix, name: &[u8], value: &[u8]| put_named(headers, &mut whole, prefix, name, value);
    text.clear();
    for attribute in content.attributes().flatten() {
        match attribute {
            Attribute::Meta { name, value } => put(META, name, value)?,
            Attribute::BinaryEntry { field, term } | Attribute::IntegerEntry { field, term } => {
                // The entries of an index lie together.
                match index {
                    Some(same)
                        if same == field && text.len() + SEPARATOR.len() + term.len() <= LINE_BYTES_MAX =>
                    {
                        text.extend_from_slice(SEPARATOR);
                    }
                    Some(last) => {
                        put(INDEX, last, text)?;
                        text.clear();
                    }
                    None => {}
                }
                index = Some(field);
                text.extend_from_slice(term);
            }
            _ => {}
        }
    }
    index.map_or(Ok(()), |field| put(INDEX, field, text))
}

/// The beginning of fields of metadata.
pub(super) const META: &str = "x-riak-meta-";
/// The beginning of fields of indexes.
pub(super) const INDEX: &str = "x-riak-index-";

/// Appends a field whose name is made over `whole`.
fn put_named(
    headers: &mut FieldSection,
    whole: &mut Vec<u8>,
    prefix: &str,
    name: &[u8],
    value: &[u8],
) -> Result<(), FieldError> {
    whole.clear();
    whole.extend_from_slice(prefix.as_bytes());
    whole.extend_from_slice(name);
    // Names came as names of fields, which are ASCII; others are passed over.
    match std::str::from_utf8(whole) {
        Ok(name) => headers.append(name, value),
        Err(_) => Ok(()),
    }
}
