//! Links in the field `link`, as Riak writes them.
//!
//! ```text
//! </riak/B/K>; riaktag="TAG"          an older form
//! </buckets/B/keys/K>; riaktag="TAG"
//! </buckets/B>; rel="up"              the bucket of the object itself
//! ```
//!
//! Bucket, key and tag are percent-encoded.

use std::borrow::Cow;

use alula::{FieldSection, KnownName};

use crate::engine::BucketName;
use crate::http::{
    answer::{fail::Fail, stand_ins},
    checks::query,
    target::Form,
};
use crate::model::{Attribute, Attributes, Content};

const FORM: &str =
    "Invalid Link header. Links are of the form\n</buckets/BUCKET/keys/KEY>; riaktag=\"TAG\"\n";

/// Appends the links of a request as attributes.
///
/// # Errors
/// 400 for a link of another form, or a parent that is not the bucket of the object.
pub(in crate::http) fn read(headers: &FieldSection, bucket: &[u8], out: &mut Vec<u8>) -> Result<(), Fail> {
    for value in headers.get_all(KnownName::LINK) {
        for link in elements(value) {
            let link = link_of(link).ok_or(Fail::bad_request(FORM))?;
            match link {
                Link::Parent(parent) if *parent == *bucket => {}
                Link::Parent(_) => return Err(Fail::bad_request(FORM)),
                Link::Object { bucket, key, tag } => {
                    Attribute::Link { bucket: &bucket, key: &key, tag: &tag }.write(out);
                }
            }
        }
    }
    Ok(())
}

enum Link<'a> {
    Parent(Cow<'a, [u8]>),
    Object { bucket: Cow<'a, [u8]>, key: Cow<'a, [u8]>, tag: Cow<'a, [u8]> },
}

/// Returns the elements of a list, at the commas outside quotes and angle brackets.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut in_quotes, mut in_target) = (false, false);
    let parts = value.split(move |byte| {
        match byte {
            b'"' if !in_target => in_quotes = !in_quotes,
            b'<' if !in_quotes => in_target = true,
            b'>' if !in_quotes => in_target = false,
            _ => {}
        }
        *byte == b',' && !in_quotes && !in_target
    });
    parts.map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

fn link_of(link: &[u8]) -> Option<Link<'_>> {
    let (target, parameter) = split_once(link.strip_prefix(b"<")?, b'>')?;
    let parameter = parameter.strip_prefix(b";")?;
    let (name, value) = split_once(parameter.strip_prefix(b" ").unwrap_or(parameter), b'=')?;
    let value = value.strip_prefix(b"\"")?.strip_suffix(b"\"").filter(|value| !value.contains(&b'"'))?;
    let mut segments = target.strip_prefix(b"/")?.split(|byte| *byte == b'/');
    let segments = [segments.next(), segments.next(), segments.next(), segments.next(), segments.next()];
    match (name, value, segments) {
        (b"rel", b"up", [Some(b"riak" | b"buckets"), Some(bucket), None, ..]) => {
            Some(Link::Parent(stand_ins::decoded(query::decoded(bucket))))
        }
        (b"riaktag", tag, [Some(b"riak"), Some(bucket), Some(key), None, _])
        | (b"riaktag", tag, [Some(b"buckets"), Some(bucket), Some(b"keys"), Some(key), None]) => {
            let [bucket, key] = [bucket, key].map(|name| stand_ins::decoded(query::decoded(name)));
            let tag = query::decoded(tag);
            (!bucket.is_empty() && !key.is_empty()).then_some(Link::Object { bucket, key, tag })
        }
        _ => None,
    }
}

fn split_once(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

/// The longest line of links or index entries that is sent: Python's client takes lines of 64 KiB, and of
/// several lines of a field it keeps one, so that there are no more of them than need be.
pub(in crate::http) const LINE_BYTES_MAX: usize = 48 * 1024;

/// Calls `visit` with the lines of the field `link` of a content: its bucket, then the stored links in their
/// order. A line is longer than [`LINE_BYTES_MAX`] only if it has one link. They are written over `text`.
///
/// # Errors
/// The first one of `visit`.
pub(in crate::http) fn each_line<E>(
    content: &Content<'_>,
    bucket: BucketName<'_>,
    form: Form,
    text: &mut Vec<u8>,
    visit: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    each_line_of(content.attributes(), bucket.bucket, form, text, visit)
}

/// Writes the links of attributes as a field, before they belong to a content.
#[cfg(feature = "fuzzing")]
pub(crate) fn field(attributes: &[u8], bucket: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let join = |line: &[u8]| {
        out.extend_from_slice(if out.is_empty() { b"" } else { SEPARATOR });
        out.extend_from_slice(line);
        Ok::<_, std::convert::Infallible>(())
    };
    let Ok(()) = each_line_of(Attributes::new(attributes), bucket, Form::Untyped, &mut Vec::new(), join);
    out
}

/// The bytes between the elements of a list.
pub(in crate::http) const SEPARATOR: &[u8] = b", ";

fn each_line_of<E>(
    attributes: Attributes<'_>,
    bucket: &[u8],
    form: Form,
    text: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    text.clear();
    text.extend_from_slice(if form == Form::Old { b"</riak/" } else { b"</buckets/" });
    write_name(bucket, text);
    text.extend_from_slice(b">; rel=\"up\"");
    for attribute in attributes.flatten() {
        let Attribute::Link { bucket, key, tag } = attribute else { continue };
        let end = text.len();
        text.extend_from_slice(SEPARATOR);
        text.extend_from_slice(if form == Form::Old { b"</riak/" } else { b"</buckets/" });
        write_name(bucket, text);
        text.extend_from_slice(if form == Form::Old { b"/" } else { b"/keys/" });
        write_name(key, text);
        text.extend_from_slice(b">; riaktag=\"");
        write_encoded(tag, text);
        text.push(b'"');
        if text.len() > LINE_BYTES_MAX {
            visit(&text[..end])?;
            text.drain(..end + SEPARATOR.len());
        }
    }
    visit(text)
}

/// Appends a name as one segment of a path, in a form that reads back as the same name.
pub(in crate::http) fn write_name(name: &[u8], out: &mut Vec<u8>) {
    write_encoded(&stand_ins::encoded(name), out);
}

/// Appends bytes as one segment of a path (RFC 3986 §2.3).
pub(in crate::http) fn write_encoded(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(*byte),
            _ => {
                out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(link: &str) -> Option<Vec<u8>> {
        let headers = FieldSection::from_pairs([("link", link)]).expect("a valid field");
        let mut out = Vec::new();
        read(&headers, b"b", &mut out).ok().map(|()| out)
    }

    fn of(links: &[(&str, &str, &str)]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for (bucket, key, tag) in links {
            let [bucket, key, tag] = [bucket, key, tag].map(|text| text.as_bytes());
            Attribute::Link { bucket, key, tag }.write(&mut out);
        }
        Some(out)
    }

    #[test]
    fn links_of_both_forms_are_read() {
        for (link, links) in [
            ("</riak/c/k>; riaktag=\"t\"", of(&[("c", "k", "t")])),
            ("</buckets/c/keys/k>;riaktag=\"t\"", of(&[("c", "k", "t")])),
            ("</buckets/b>; rel=\"up\"", of(&[])),
            ("</riak/b>; rel=\"up\", </riak/c/k%2Fl>; riaktag=\"a%20b\"", of(&[("c", "k/l", "a b")])),
            (
                "</riak/c/a,b>; riaktag=\"x,y\", </riak/c/d>; riaktag=\"\"",
                of(&[("c", "a,b", "x,y"), ("c", "d", "")]),
            ),
        ] {
            assert_eq!(attributes(link), links, "{link}");
        }
    }

    #[test]
    fn other_links_are_refused() {
        for link in [
            "</riak/c>; rel=\"up\"",
            "</riak/c/k>",
            "</riak/c/k>; riaktag=t",
            "</other/c/k>; riaktag=\"t\"",
            "</buckets/c/keys>; riaktag=\"t\"",
            "</buckets/c/keys/k/l>; riaktag=\"t\"",
            "</riak/c/k>; rel=\"next\"",
            "<http://a/riak/c/k>; riaktag=\"t\"",
            "</riak//k>; riaktag=\"t\"",
            "/riak/c/k; riaktag=\"t\"",
        ] {
            assert_eq!(attributes(link), None, "{link}");
        }
    }
}
