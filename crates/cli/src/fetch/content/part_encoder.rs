//! `encoder=` of a form's part: encodes its bytes as for mail (RFC 2045 §6).

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The characters of a line of encoded text, at most (RFC 2045 §6.7 and §6.8).
const LINE_MAX: usize = 76;

/// The encoding of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum PartEncoder {
    Binary,
    EightBit,
    SevenBit,
    QuotedPrintable,
    Base64,
}

/// The encoders by their `content-transfer-encoding`.
const ENCODERS: [(&str, PartEncoder); 5] = [
    ("binary", PartEncoder::Binary),
    ("8bit", PartEncoder::EightBit),
    ("7bit", PartEncoder::SevenBit),
    ("quoted-printable", PartEncoder::QuotedPrintable),
    ("base64", PartEncoder::Base64),
];

impl PartEncoder {
    pub(in crate::fetch) fn find(name: &str) -> Option<Self> {
        ENCODERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, encoder)| *encoder)
    }

    pub(in crate::fetch) fn name(self) -> &'static str {
        ENCODERS.iter().find(|(_, encoder)| *encoder == self).map_or("", |(name, _)| name)
    }

    /// Encodes the bytes; returns nothing if that is impossible.
    pub(in crate::fetch) fn encode(self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::SevenBit if !bytes.is_ascii() => None,
            Self::Binary | Self::EightBit | Self::SevenBit => Some(bytes),
            Self::QuotedPrintable => Some(quoted_printable(&bytes)),
            Self::Base64 => {
                let text = STANDARD.encode(bytes);
                let lines: Vec<&[u8]> = text.as_bytes().chunks(LINE_MAX).collect();
                Some(lines.join(&b"\r\n"[..]))
            }
        }
    }
}

/// Encodes as quoted-printable: lines end at CR LF; unprintable bytes, and white space at the end of a line,
/// are escaped.
fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let (mut encoded, mut column, mut at) = (Vec::new(), 0, 0);
    let ends_line = |at: usize| at >= bytes.len() || bytes[at..].starts_with(b"\r\n");
    while let Some(byte) = bytes.get(at) {
        if bytes[at..].starts_with(b"\r\n") {
            encoded.extend(b"\r\n");
            (column, at) = (0, at + 2);
            continue;
        }
        let word = match byte {
            b' ' | b'\t' if !ends_line(at + 1) => vec![*byte],
            b'!'..=b'<' | b'>'..=b'~' => vec![*byte],
            other => format!("={other:02X}").into_bytes(),
        };
        let end = column + word.len();
        if end > LINE_MAX || end == LINE_MAX && !ends_line(at + 1) {
            encoded.extend(b"=\r\n");
            column = 0;
        }
        column += word.len();
        encoded.extend(word);
        at += 1;
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_as_the_rfc_says() {
        let long = "a".repeat(80);
        let soft = format!("{}=\r\n{}", "a".repeat(75), "a".repeat(5));
        for (name, bytes, expected) in [
            ("base64", "hello", Some("aGVsbG8=")),
            ("BASE64", "", Some("")),
            ("quoted-printable", "a=\u{e4} b \r\nc\t", Some("a=3D=C3=A4 b=20\r\nc=09")),
            ("quoted-printable", "a\nb\r", Some("a=0Ab=0D")),
            ("quoted-printable", &long, Some(&soft)),
            ("7bit", "plain", Some("plain")),
            ("7bit", "\u{e4}", None),
            ("8bit", "\u{e4}", Some("\u{e4}")),
            ("binary", "\u{e4}", Some("\u{e4}")),
        ] {
            let encoded = PartEncoder::find(name).unwrap().encode(bytes.as_bytes().to_vec());
            assert_eq!(encoded.as_deref(), expected.map(str::as_bytes), "{name} {bytes:?}");
        }
        let lines = PartEncoder::Base64.encode(vec![0; 60]).unwrap();
        assert_eq!(lines, [&[b'A'; 76][..], b"\r\nAAAA"].concat());
        assert_eq!(PartEncoder::find("rot13"), None);
        assert!(ENCODERS.iter().all(|(name, encoder)| encoder.name() == *name));
    }
}
