//! JSON strings of any bytes: each byte is the character of its number (Latin-1).
//!
//! Written by hand into a buffer that is used again, so that nothing is allocated once it is warm.

/// Appends bytes as a JSON string in ASCII; all else becomes `\u00XX` (RFC 8259 §7).
pub(crate) fn push_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| !is_plain(*byte)) {
        out.extend_from_slice(&rest[..at]);
        push_escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends pairs as `[["name","value"],…]`.
pub(crate) fn push_pairs<'a>(out: &mut Vec<u8>, pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) {
    out.push(b'[');
    for (at, (name, value)) in pairs.into_iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"[" } else { b",[" });
        push_string(out, name);
        out.push(b',');
        push_string(out, value);
        out.push(b']');
    }
    out.push(b']');
}

/// Returns the bytes of a string whose characters are all below U+0100.
pub(crate) fn latin1_bytes(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|character| u8::try_from(character).ok()).collect()
}

/// Returns the string whose characters are these bytes.
pub(crate) fn latin1_text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Returns the same JSON in visible ASCII: all other characters are in strings, where they can be escaped.
pub(crate) fn to_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        match character.is_ascii() && character != '\x7f' {
            true => ascii.push(character),
            false => {
                // Characters above U+FFFF are escaped as two surrogates (RFC 8259 §7).
                for unit in character.encode_utf16(&mut [0; 2]) {
                    ascii.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    ascii
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut json = Vec::new();
        push_string(&mut json, &bytes);
        assert!(json.iter().all(|byte| matches!(byte, b' '..=b'~')));
        let text: String = serde_json::from_slice(&json).unwrap();
        assert_eq!(latin1_bytes(&text), Some(bytes.clone()));
        assert_eq!(latin1_text(&bytes), text);
    }

    #[test]
    fn bytes_are_escaped_as_json_wants_it() {
        let mut json = Vec::new();
        push_string(&mut json, b"a\"b\\c\nd\x00\x7f\xe9");
        assert_eq!(json, br#""a\"b\\c\nd\u0000\u007f\u00e9""#);
        json.clear();
        push_pairs(&mut json, [(&b"a"[..], &b"1"[..]), (b"b", b"")]);
        assert_eq!(json, br#"[["a","1"],["b",""]]"#);
        json.clear();
        push_pairs(&mut json, []);
        assert_eq!(json, b"[]");
        assert_eq!(latin1_bytes("\u{100}"), None);
    }

    #[test]
    fn json_in_ascii_means_the_same() {
        let json = "{\"é\":\"\\u00e9 \\\" 🦀\x7f\u{9b}\"}";
        let ascii = to_ascii(json);
        assert!(ascii.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        let parse = |json| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(parse(&ascii), parse(json));
    }
}
