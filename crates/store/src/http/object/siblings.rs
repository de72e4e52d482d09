//! Siblings as a response: their vtags as lines of text, or their values in a multipart.
//!
//! ```text
//! CRLF --BOUNDARY CRLF fields CRLF CRLF value      for each
//! CRLF --BOUNDARY-- CRLF
//! ```

use std::convert::Infallible;

use alula::{KnownName, Reply, Scratch};

use super::one::{DELETED, INDEX, META, put_context, put_modified, put_tag, write_date};
use super::shown::{Form, coding, media_type};
use crate::engine::BucketName;
use crate::http::answer::fail::{Fail, Outcome};
use crate::http::answer::sending::Paced;
use crate::http::target::{self, Target};
use crate::http::walk::links;
use crate::model::{Attribute, Content, Record, Vtag};

/// The number of siblings whose parts fit on the stack; more take a list.
const PARTS_ON_STACK: usize = 33;

/// Sends all contents of a record. `secret` is what clients cannot know of boundaries.
pub(super) async fn send(
    mut reply: Reply,
    target: &Target,
    record: &Record<'_>,
    form: Form,
    secret: Vtag,
    paced: Paced<'_>,
) -> Outcome {
    let headers = reply.headers_mut();
    let mut text = Scratch::lend();
    put_context(headers, record.context(&mut Scratch::lend())).map_err(Fail::from)?;
    put_tag(headers, record.vtag().text().as_bytes(), &mut text).map_err(Fail::from)?;
    put_modified(headers, record.modified(), &mut text).map_err(Fail::from)?;
    headers.append(KnownName::VARY, "Accept").map_err(Fail::from)?;
    text.clear();
    match form {
        Form::Text => send_text(reply, record, &mut text).await,
        Form::Multipart => send_multipart(reply, target, record, secret, &mut text, paced).await,
    }
}

async fn send_text(reply: Reply, record: &Record<'_>, text: &mut Vec<u8>) -> Outcome {
    text.extend_from_slice(b"Siblings:\n");
    for content in record.contents() {
        text.extend_from_slice(content.vtag().text().as_bytes());
        text.push(b'\n');
    }
    Ok(reply.header(KnownName::CONTENT_TYPE, "text/plain").send(&text[..]).await?)
}

async fn send_multipart(
    reply: Reply,
    target: &Target,
    record: &Record<'_>,
    secret: Vtag,
    text: &mut Vec<u8>,
    paced: Paced<'_>,
) -> Outcome {
    let vtags = record.contents().map(|content| content.vtag());
    let boundary = Vtag::of_siblings(vtags.chain([secret])).text();
    text.extend_from_slice(b"multipart/mixed; boundary=");
    text.extend_from_slice(boundary.as_bytes());
    let reply = reply.header(KnownName::CONTENT_TYPE, &text[..]);
    let (mut heads, mut ends) = (Scratch::lend(), Ends::new());
    for content in record.contents() {
        put_boundary(boundary.as_bytes(), b"\r\n", &mut heads);
        put_head(&content, target.bucket(), target.form, &mut heads);
        ends.push(heads.len());
    }
    put_boundary(boundary.as_bytes(), b"--\r\n", &mut heads);
    ends.push(heads.len());
    let values = record.contents().map(|content| content.value()).chain([&b""[..]]);
    let mut start = 0;
    let parts = values.zip(ends.iter()).flat_map(|(value, end)| {
        let head = &heads[start..end];
        start = end;
        [head, value]
    });
    send_all(reply, 2 * (record.contents().len() + 1), parts, paced).await
}

async fn send_all<'a>(
    reply: Reply,
    count: usize,
    parts: impl Iterator<Item = &'a [u8]>,
    paced: Paced<'_>,
) -> Outcome {
    let (mut few, many): ([&[u8]; 2 * PARTS_ON_STACK], Vec<&[u8]>);
    let parts = if count <= 2 * PARTS_ON_STACK {
        few = [&[]; 2 * PARTS_ON_STACK];
        few.iter_mut().zip(parts).for_each(|(place, part)| *place = part);
        &few[..count]
    } else {
        many = parts.collect();
        &many[..]
    };
    paced.send_parts(reply, parts).await
}

/// The ends of the heads of parts in one buffer.
struct Ends {
    count: usize,
    few: [usize; PARTS_ON_STACK],
    more: Vec<usize>,
}

impl Ends {
    const fn new() -> Self {
        Self { count: 0, few: [0; PARTS_ON_STACK], more: Vec::new() }
    }

    fn push(&mut self, end: usize) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = end,
            None => self.more.push(end),
        }
        self.count += 1;
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.few.iter().take(self.count).chain(&self.more).copied()
    }
}

pub(in crate::http) fn put_boundary(boundary: &[u8], end: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n--");
    out.extend_from_slice(boundary);
    out.extend_from_slice(end);
}

/// Writes the fields of a part, and the empty line after them.
pub(in crate::http) fn put_head(
    content: &Content<'_>,
    bucket: BucketName<'_>,
    form: target::Form,
    out: &mut Vec<u8>,
) {
    put_field("Content-Type", b"", media_type(content), out);
    if let Some(coding) = coding(content) {
        put_field("Content-Encoding", b"", coding, out);
    }
    let put_line = |line: &[u8]| {
        put_field("Link", b"", line, out);
        Ok::<_, Infallible>(())
    };
    let Ok(()) = links::each_line(content, bucket, form, &mut Scratch::lend(), put_line);
    put_field("Etag", b"", content.vtag().text().as_bytes(), out);
    out.extend_from_slice(b"Last-Modified: ");
    write_date(content.modified(), out);
    out.extend_from_slice(b"\r\n");
    if content.is_deleted() {
        put_field(DELETED, b"", b"true", out);
    }
    for attribute in content.attributes().flatten() {
        match attribute {
            Attribute::Meta { name, value } => put_field(META, name, value, out),
            Attribute::BinaryEntry { field, term } | Attribute::IntegerEntry { field, term } => {
                put_field(INDEX, field, term, out);
            }
            _ => {}
        }
    }
    out.extend_from_slice(b"\r\n");
}

fn put_field(name: &str, more: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(more);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
