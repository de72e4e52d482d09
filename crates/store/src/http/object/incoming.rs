//! The attributes that a request stores beside its content: media type, coding, metadata, index entries and
//! links.

use alula::{FieldSection, KnownName, Scratch, Status};

use super::one::META;
use super::{entries, same_name};
use crate::engine::{ObjectName, RowLength};
use crate::http::answer::fail::{Cut, Fail};
use crate::http::walk::links;
use crate::model::Attribute;

/// The attributes of a content, and the bytes that they take in an engine.
pub(in crate::http) struct Incoming {
    /// The attributes in the order in which they are kept.
    pub(in crate::http) attributes: Scratch,
    /// The bytes of the rows of the index entries.
    pub(super) rows: u64,
}

/// The bytes of attributes that may be held while the content of a write arrives. Larger ones are made anew.
pub(super) const HELD_BYTES_MAX: usize = 4 * 1024;

/// Reads the attributes of the content that a request stores as this object.
///
/// # Errors
/// 400 or 415 with a text.
pub(in crate::http) fn attributes(headers: &FieldSection, name: ObjectName<'_>) -> Result<Incoming, Fail> {
    let mut out = Scratch::lend_within(HELD_BYTES_MAX);
    Attribute::MediaType(media_type(headers)?).write(&mut out);
    if let Some(coding) = headers.get(KnownName::CONTENT_ENCODING) {
        Attribute::Coding(coding).write(&mut out);
    }
    put_metadata(headers, &mut out)?;
    links::read(headers, name.bucket.bucket, &mut out)?;
    let rows = entries::put(headers, RowLength::of(name), &mut out)?;
    Ok(Incoming { attributes: out, rows })
}

/// Returns the media type that a request names.
///
/// # Errors
/// 400 if it names none, 415 if what it names is none.
pub(super) fn media_type(headers: &FieldSection) -> Result<&[u8], Fail> {
    let Some(media_type) = headers.get(KnownName::CONTENT_TYPE) else {
        return Err(Fail::bad_request("Missing Content-Type request header\n"));
    };
    if !media_type.contains(&b'/') {
        let text = format!("\"{}\" is not a valid media type\n", Cut(media_type));
        return Err(Fail::text(Status::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(media_type)
}

/// Writes the metadata of a request. Several fields of one name are one value, joined as lists are.
fn put_metadata(headers: &FieldSection, out: &mut Vec<u8>) -> Result<(), Fail> {
    same_name::each(headers, META, |name, values| {
        let value = values.next().unwrap_or_default();
        let Some(second) = values.next() else {
            Attribute::Meta { name, value }.write(out);
            return Ok(());
        };
        let mut joined = Scratch::lend();
        joined.extend_from_slice(value);
        for value in std::iter::once(second).chain(values) {
            joined.extend_from_slice(b", ");
            joined.extend_from_slice(value);
        }
        Attribute::Meta { name, value: &joined }.write(out);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::BucketName;
    use crate::model::Attributes;

    fn kept(fields: &[(&str, &str)]) -> Result<Scratch, Fail> {
        let headers = FieldSection::from_pairs(fields.iter().copied()).expect("valid fields");
        let name = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"k");
        attributes(&headers, name).map(|incoming| incoming.attributes)
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
