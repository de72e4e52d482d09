//! The name that `content-disposition` gives a file, against a reader that goes over a list of characters.

use alula_fields::parameters::filename;

use super::accept::cut;

/// The bytes as the value of the field.
pub fn content_disposition(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let name = filename(data);
    assert_eq!(name, naive(text), "{text:?}");
    if let Some(name) = name {
        assert!(name.len() <= text.len(), "a name is no longer than what gives it");
    }
}

fn naive(text: &str) -> Option<String> {
    let parameters = parameters(text);
    let first = |wanted: &str| {
        parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.clone())
    };
    first("filename*").and_then(|value| extended(&value)).or_else(|| first("filename"))
}

/// RFC 8187 §3.2, in UTF-8 only.
fn extended(value: &str) -> Option<String> {
    let parts: Vec<&str> = value.splitn(3, '\'').collect();
    let [charset, _, encoded] = parts[..] else { return None };
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let bytes = encoded.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.filter(|_| *byte == b'%') {
            Some(digits) => {
                decoded.push(u8::from_str_radix(digits, 16).expect("two digits"));
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// Names and values behind the first semicolon. A piece without `=` is passed over.
fn parameters(text: &str) -> Vec<(String, String)> {
    let blanks = [' ', '\t'];
    let pairs = cut(text, ';').into_iter().skip(1).filter_map(|piece| piece.split_once('='));
    let read = |(name, value): (&str, &str)| {
        let value = value.trim_matches(blanks);
        let mut quoted = value.strip_prefix('"').map(str::chars);
        let mut text = String::new();
        while let Some(character) = quoted.as_mut().and_then(Iterator::next) {
            match character {
                '"' => break,
                '\\' => text.extend(quoted.as_mut().and_then(Iterator::next)),
                plain => text.push(plain),
            }
        }
        (name.trim_matches(blanks).to_owned(), if quoted.is_some() { text } else { value.to_owned() })
    };
    pairs.map(read).collect()
}
