//! The encoding of text, and text out of bytes.

use std::borrow::Cow;

use alula_fields::parameters;
use alula_net::Error;

use super::unreadable;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text that these bytes are, according to their byte order mark or their media type.
#[cfg(feature = "charset")]
pub(super) fn text(content: Vec<u8>, content_type: Option<&str>) -> Result<String, Error> {
    let label = content_type.and_then(charset).unwrap_or(Cow::Borrowed("utf-8"));
    let said = encoding_rs::Encoding::for_label(label.as_bytes());
    let marked = encoding_rs::Encoding::for_bom(&content).map(|(encoding, _)| encoding);
    // The mark is in the content itself and wins over the field (WHATWG Encoding, "decode").
    match marked.or(said) {
        Some(encoding) if encoding == encoding_rs::UTF_8 => Ok(utf8(content)),
        Some(encoding) => Ok(encoding.decode(&content).0.into_owned()),
        None => Err(unknown(&label)),
    }
}

/// The same where only UTF-8 is known.
#[cfg(not(feature = "charset"))]
pub(super) fn text(content: Vec<u8>, content_type: Option<&str>) -> Result<String, Error> {
    let said = content_type.and_then(charset).unwrap_or(Cow::Borrowed("utf-8"));
    let label = match &*content {
        [0xef, 0xbb, 0xbf, ..] => "utf-8",
        [0xff, 0xfe, ..] => "utf-16le",
        [0xfe, 0xff, ..] => "utf-16be",
        _ => &said,
    };
    let is_utf8 =
        ["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| label.eq_ignore_ascii_case(known));
    if is_utf8 { Ok(utf8(content)) } else { Err(unknown(label)) }
}

fn unknown(label: &str) -> Error {
    unreadable(format!("its charset {label:?} is not known (RFC 9110 §8.3.2)"))
}

/// Returns UTF-8 text without the byte order mark; invalid sequences are replaced.
fn utf8(mut content: Vec<u8>) -> String {
    if content.starts_with(UTF8_MARK) {
        content.drain(..UTF8_MARK.len());
    }
    String::from_utf8(content).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the parameter `charset` of a media type (RFC 9110 §8.3.1).
fn charset(content_type: &str) -> Option<Cow<'_, str>> {
    parameters::find(content_type.as_bytes(), "charset")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charset_is_found_among_parameters() {
        for (content_type, expected) in [
            ("text/html", None),
            ("text/html;charset=utf-8", Some("utf-8")),
            ("text/html; Charset = \"UTF-8\" ; x=y", Some("UTF-8")),
            ("text/html; a=\"; charset=no\\\"; charset=no\"; charset=yes", Some("yes")),
            ("text/html; a; charset=odd", Some("odd")),
            ("text/html; b=\"a\\\"; charset=no\"; charset=\"u\\tf-8\"", Some("utf-8")),
            ("text/html; charset=\"open", Some("open")),
        ] {
            assert_eq!(charset(content_type).as_deref(), expected, "{content_type}");
        }
    }

    #[test]
    fn utf8_needs_no_feature() {
        let read = |bytes: &[u8], content_type| text(bytes.to_vec(), content_type).unwrap();
        assert_eq!(read(b"\xef\xbb\xbfa\xc3\xa4", None), "aä");
        assert_eq!(read(b"a\xff", Some("text/plain; charset=UTF8")), "a\u{fffd}");
        let error = text(b"a".to_vec(), Some("text/plain; charset=x-klingon")).unwrap_err();
        assert!(error.to_string().contains("x-klingon"), "{error}");
    }

    #[cfg(feature = "charset")]
    #[test]
    fn other_encodings_are_known_by_their_names_and_marks() {
        let read = |bytes: &[u8], content_type| text(bytes.to_vec(), content_type).unwrap();
        assert_eq!(read(b"\xe4", Some("text/plain; charset=ISO-8859-1")), "ä");
        assert_eq!(read(b"\x82\xa0", Some("text/plain; charset=shift_jis")), "あ");
        assert_eq!(read(b"\xff\xfea\0", Some("text/plain; charset=utf-8")), "a");
    }

    #[cfg(not(feature = "charset"))]
    #[test]
    fn other_encodings_are_named() {
        let error = text(b"\xff\xfea\0".to_vec(), None).unwrap_err();
        assert!(error.to_string().contains("utf-16le"), "{error}");
    }
}
