//! The attributes that a request stores beside its content: its media type and coding, metadata, entries of indexes and links.
//!
//! Rule: entries of one index lie together and are there once, so that a response shows each index as one field.

use std::borrow::Cow;
use std::collections::BTreeSet;

use alula::{FieldSection, KnownName, Scratch, Status};

use super::super::fail::Fail;
use super::super::links;
use super::one::{INDEX, META};
use crate::model::{Attribute, Attributes, term};

/// The attributes of the content of a request, in the order in which they are kept.
///
/// # Errors
/// 400 or 415 with a text.
pub(in super::super) fn attributes(headers: &FieldSection, bucket: &[u8]) -> Result<Scratch, Fail> {
    let mut out = Scratch::lend();
    Attribute::MediaType(media_type(headers)?).write(&mut out);
    if let Some(coding) = headers.get(KnownName::CONTENT_ENCODING) {
        Attribute::Coding(coding).write(&mut out);
    }
    put_metadata(headers, &mut out);
    links::read(headers, bucket, &mut out)?;
    put_entries(headers, &mut out)?;
    Ok(out)
}

/// The media type that a request names.
///
/// # Errors
/// 400 if it names none, 415 if what it names is none.
pub(super) fn media_type(headers: &FieldSection) -> Result<&[u8], Fail> {
    let Some(media_type) = headers.get(KnownName::CONTENT_TYPE) else {
        return Err(Fail::bad_request("Missing Content-Type request header\n"));
    };
    if !media_type.contains(&b'/') {
        let text = format!("\"{}\" is not a valid media type\n", String::from_utf8_lossy(media_type));
        return Err(Fail::text(Status::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(media_type)
}

/// Metadata of one name in several fields is one value, joined as lists are.
fn put_metadata(headers: &FieldSection, out: &mut Vec<u8>) {
    for (place, field) in headers.iter().enumerate() {
        let Some(name) = after(field.name_bytes(), META) else { continue };
        let is_same = |other: &[u8]| after(other, META) == Some(name);
        if headers.iter().take(place).any(|other| is_same(other.name_bytes())) {
            continue;
        }
        let mut more = headers.iter().skip(place + 1).filter(|other| is_same(other.name_bytes())).peekable();
        if more.peek().is_none() {
            Attribute::Meta { name, value: field.value() }.write(out);
            continue;
        }
        let mut value = Scratch::lend();
        value.extend_from_slice(field.value());
        more.for_each(|other| {
            value.extend_from_slice(b", ");
            value.extend_from_slice(other.value());
        });
        Attribute::Meta { name, value: &value }.write(out);
    }
}

/// The entries of all indexes, each index at the place of its first field.
fn put_entries(headers: &FieldSection, out: &mut Vec<u8>) -> Result<(), Fail> {
    for (place, field) in headers.iter().enumerate() {
        let Some(index) = after(field.name_bytes(), INDEX) else { continue };
        let is_same = |other: &[u8]| after(other, INDEX) == Some(index);
        if headers.iter().take(place).any(|other| is_same(other.name_bytes())) {
            continue;
        }
        let (kind, mut there) = (Kind::of(index)?, There::from(out.len()));
        for same in headers.iter().skip(place).filter(|other| is_same(other.name_bytes())) {
            for value in terms(same.value()) {
                put_entry(kind, index, value, &mut there, out)?;
            }
        }
    }
    Ok(())
}

/// The kind of an index, by the end of its name.
#[derive(Clone, Copy)]
enum Kind {
    Binary,
    Integer,
}

impl Kind {
    fn of(index: &[u8]) -> Result<Self, Fail> {
        match index {
            _ if index.ends_with(b"_bin") => Ok(Self::Binary),
            _ if index.ends_with(b"_int") => Ok(Self::Integer),
            _ => {
                let index = String::from_utf8_lossy(index);
                Err(Fail::bad_request(format!("Unknown field type for field: '{index}'.\n")))
            }
        }
    }
}

/// Appends an entry unless it is there.
fn put_entry(
    kind: Kind,
    field: &[u8],
    value: &[u8],
    there: &mut There,
    out: &mut Vec<u8>,
) -> Result<(), Fail> {
    let mut normal = Scratch::lend();
    let entry = match kind {
        Kind::Binary => Attribute::BinaryEntry { field, term: value },
        Kind::Integer => {
            term::normal_integer(value, &mut normal).ok_or_else(|| unreadable(field, value))?;
            Attribute::IntegerEntry { field, term: &normal }
        }
    };
    if there.is_new(entry, out) {
        entry.write(out);
    }
    Ok(())
}

/// The entries of one index that have been appended: few are compared one by one, of many there is a set.
struct There {
    start: usize,
    count: usize,
    many: BTreeSet<Vec<u8>>,
}

impl There {
    const FEW_MAX: usize = 32;

    const fn from(start: usize) -> Self {
        Self { start, count: 0, many: BTreeSet::new() }
    }

    /// Returns true for an entry that was not asked about before.
    fn is_new(&mut self, entry: Attribute<'_>, out: &[u8]) -> bool {
        let mut kept = Attributes::new(&out[self.start..]).flatten();
        let is_new = match self.count {
            ..Self::FEW_MAX => !kept.any(|other| other == entry),
            Self::FEW_MAX => {
                self.many.extend(kept.map(written));
                self.many.insert(written(entry))
            }
            _ => self.many.insert(written(entry)),
        };
        self.count += usize::from(is_new);
        is_new
    }
}

fn written(entry: Attribute<'_>) -> Vec<u8> {
    let mut octets = Vec::new();
    entry.write(&mut octets);
    octets
}

fn unreadable(field: &[u8], value: &[u8]) -> Fail {
    let [field, value]: [Cow<'_, str>; 2] = [field, value].map(String::from_utf8_lossy);
    Fail::bad_request(format!("Could not parse field '{field}', value '{value}'.\n"))
}

/// The terms of a field: a comma and white space separate them, a comma alone is part of one.
fn terms(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let value = rest?;
        let end = value.windows(2).position(|pair| matches!(pair, [b',', b' ' | b'\t']));
        rest = end.map(|end| &value[end + 2..]);
        Some(end.map_or(value, |end| &value[..end]))
    })
}

/// Returns the rest of a name after a prefix. Names are in lower case here.
fn after<'a>(name: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    name.strip_prefix(prefix.as_bytes()).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(fields: &[(&str, &str)]) -> Result<Scratch, Fail> {
        let headers = FieldSection::from_pairs(fields.iter().copied()).expect("valid fields");
        attributes(&headers, b"b")
    }

    #[test]
    fn fields_are_kept_as_attributes() {
        let kept = kept(&[
            ("content-type", "text/plain; charset=utf-8"),
            ("X-Riak-Meta-Colour", "red"),
            ("x-riak-index-age_int", "007, 8"),
            ("x-riak-meta-colour", "blue"),
            ("x-riak-index-name_bin", "a,b, c"),
            ("x-riak-index-age_int", "8, 7, -1"),
            ("content-encoding", "gzip"),
        ])
        .expect("a request that is stored");
        let kept: Vec<_> = Attributes::new(&kept).flatten().collect();
        let integer =
            |term: &'static str| Attribute::IntegerEntry { field: b"age_int", term: term.as_bytes() };
        let binary =
            |term: &'static str| Attribute::BinaryEntry { field: b"name_bin", term: term.as_bytes() };
        let all = [
            Attribute::MediaType(b"text/plain; charset=utf-8"),
            Attribute::Coding(b"gzip"),
            Attribute::Meta { name: b"colour", value: b"red, blue" },
            integer("7"),
            integer("8"),
            integer("-1"),
            binary("a,b"),
            binary("c"),
        ];
        assert_eq!(kept, all);
    }

    #[test]
    fn many_entries_are_there_once() {
        let terms: Vec<_> = (0..200).map(|number| (number % 100).to_string()).collect();
        let kept = kept(&[("content-type", "a/b"), ("x-riak-index-a_int", &terms.join(", "))]);
        assert_eq!(Attributes::new(&kept.expect("a request that is stored")).flatten().count(), 1 + 100);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for fields in [
            &[][..],
            &[("content-type", "text")],
            &[("content-type", "text/plain"), ("x-riak-index-a", "1")],
            &[("content-type", "text/plain"), ("x-riak-index-$key", "1")],
            &[("content-type", "text/plain"), ("x-riak-index-a_int", "1, b")],
            &[("content-type", "text/plain"), ("x-riak-index-a_int", "")],
            &[("content-type", "text/plain"), ("link", "</a>")],
        ] {
            assert!(kept(fields).is_err(), "{fields:?}");
        }
    }
}
