//! Converts content from other encodings to UTF-8 for display.

use std::borrow::Cow;

use alula::{KnownName, Response, fields::parameters};
use encoding_rs::{Decoder, Encoding, UTF_8};

use super::Show;

/// Converts content piece by piece to UTF-8; invalid bytes become U+FFFD.
#[derive(Default)]
pub(crate) struct Charset(Option<Decoder>);

impl Charset {
    /// Returns the converter for content that is displayed. UTF-8, content without a charset and compressed
    /// content pass as they are.
    pub(super) fn of(response: &Response, show: &Show) -> Self {
        let fields = response.headers();
        let is_for_the_eye = show.is_seen || show.is_laid_out;
        // Compressed content is in no charset: converted, it could not be decoded any more.
        if !is_for_the_eye || fields.get(KnownName::CONTENT_ENCODING).is_some() {
            return Self(None);
        }
        let named = || fields.get(KnownName::CONTENT_TYPE).and_then(parameter);
        Self::named(show.charset.or_else(named))
    }

    fn named(encoding: Option<&'static Encoding>) -> Self {
        Self(encoding.filter(|encoding| *encoding != UTF_8).map(Encoding::new_decoder))
    }

    /// Converts the next piece; `is_last` marks the last one.
    pub(super) fn text<'o>(&mut self, bytes: &'o [u8], is_last: bool) -> Cow<'o, [u8]> {
        let Some(decoder) = &mut self.0 else { return Cow::Borrowed(bytes) };
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
        // There is room for all of it.
        let _ = decoder.decode_to_string(bytes, &mut text, is_last);
        Cow::Owned(text.into_bytes())
    }
}

/// Returns the encoding that a media type names (RFC 9110 §8.3.2).
fn parameter(media_type: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(parameters::find(media_type, "charset")?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_is_that_of_the_media_type() {
        for (media_type, name) in [
            ("text/html; charset=iso-8859-1", Some("windows-1252")),
            ("text/html;Charset=\"Shift_JIS\"; x=y", Some("Shift_JIS")),
            ("text/html; x=y; charset = utf-16", Some("UTF-16LE")),
            ("text/html; x=\";charset=latin1\"; charset=utf-16", Some("UTF-16LE")),
            ("text/html", None),
            ("text/html; charset=klingon", None),
            ("text/html; xcharset=utf-16", None),
        ] {
            assert_eq!(parameter(media_type.as_bytes()).map(Encoding::name), name, "{media_type}");
        }
    }

    #[test]
    fn pieces_are_cut_anywhere() {
        let text = |label: &str, pieces: &[&[u8]]| {
            let mut charset = Charset::named(Encoding::for_label(label.as_bytes()));
            let mut all: Vec<u8> =
                pieces.iter().flat_map(|piece| charset.text(piece, false).into_owned()).collect();
            all.extend_from_slice(&charset.text(b"", true));
            String::from_utf8(all).unwrap()
        };
        assert_eq!(text("latin1", &[b"caf\xe9 \x80"]), "café €");
        assert_eq!(text("shift_jis", &[b"\x83", b"e\x83X\x83", b"g"]), "テスト");
        assert_eq!(text("utf-16", &[b"a", b"\0b", b"\0"]), "ab");
        assert_eq!(text("shift_jis", &[b"a\x83"]), "a\u{fffd}");
        let mut plain = Charset::named(Some(UTF_8));
        assert!(matches!(plain.text(b"\xff", true), Cow::Borrowed(b"\xff")));
    }
}
