//! Strings of JSON (RFC 8259 §7) for keys, buckets and terms, which are bytes and need not be text.
//!
//! UTF-8 is sent as it is. JSON has no form for other bytes, and one key must not keep clients from reading
//! a list: they have
//! [stand-ins](crate::http::answer::stand_ins), so that a client can tell which.
//!
//! `}` is sent as an escape, which means the same: clients cut a stream of objects at it.

use crate::http::answer::stand_ins;

/// Appends a string of JSON that stands for these bytes.
pub(crate) fn put_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        put_text(chunk.valid(), out);
        stand_ins::put(chunk.invalid(), out);
    }
    out.push(b'"');
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.find(is_escaped) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let mut characters = rest[at..].chars();
        if let Some(character) = characters.next() {
            put_escaped(character, out);
        }
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

fn is_escaped(character: char) -> bool {
    matches!(character, '\0'..='\x1f' | '"' | '\\' | '}') || stand_ins::CHARACTERS.contains(&character)
}

fn put_escaped(character: char, out: &mut Vec<u8>) {
    match character {
        '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\0'..='\x7f' => {
            let digit = |number: u8| b"0123456789abcdef"[usize::from(number)];
            let byte = character as u8;
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
        }
        _ => stand_ins::put(character.encode_utf8(&mut [0; 4]).as_bytes(), out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        put_string(bytes, &mut out);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Returns the bytes that a string stands for in a path.
    fn bytes(string: &str) -> Vec<u8> {
        let text: String = serde_json::from_str(string).expect("JSON");
        stand_ins::decoded(text.into_bytes().into()).into_owned()
    }

    #[test]
    fn text_is_sent_as_it_is() {
        for (text, json) in [
            ("", r#""""#),
            ("key", r#""key""#),
            ("Grüße 世界 \u{1f980}", "\"Grüße 世界 \u{1f980}\""),
            ("a\"b\\c/d", r#""a\"b\\c/d""#),
            ("\n\r\t\0\x1f\x7f", "\"\\n\\r\\t\\u0000\\u001f\x7f\""),
            ("{}", r#""{\u007d""#),
        ] {
            assert_eq!(string(text.as_bytes()), json);
            assert_eq!(bytes(json), text.as_bytes());
        }
    }

    #[test]
    fn other_bytes_come_back() {
        for (name, json) in [
            (&b"\xff"[..], "\"\u{efff}\""),
            (b"a\x80b", "\"a\u{ef80}b\""),
            (b"\xc3", "\"\u{efc3}\""),
            (b"\xed\xa0\x80", "\"\u{efed}\u{efa0}\u{ef80}\""),
            ("\u{ef80}".as_bytes(), "\"\u{efee}\u{efbe}\u{ef80}\""),
            ("\u{ef7f}\u{f000}".as_bytes(), "\"\u{ef7f}\u{f000}\""),
        ] {
            assert_eq!(string(name), json);
            assert_eq!(bytes(json), name);
        }
    }

    #[test]
    fn any_bytes_come_back() {
        let mut rng = alula_testkit::Rng::new(10);
        for _ in 0..20_000 {
            let len = rng.below(8);
            let name = match rng.one_in(2) {
                true => rng.bytes(len),
                false => rng.bytes_of(b"a\"\\}\x00\xc3\xa9\xee\xbe\x80\xbf\xff\xf0\x9f", len),
            };
            let json = string(&name);
            assert!(!json.contains(['}', '\n', '\r']), "{name:?}");
            assert_eq!(bytes(&json), name);
        }
    }
}
