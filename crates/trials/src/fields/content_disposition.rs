//! The name that `content-disposition` gives a file, against a reader that goes over a list of characters.

use crate::disposition::filename;

/// The bytes as the value of the field.
pub fn content_disposition(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let name = filename(text);
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

/// Names and values behind the first semicolon. A parameter that has no `=` goes on to the next one.
fn parameters(text: &str) -> Vec<(String, String)> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let find = |from: usize, wanted: char| (from..characters.len()).find(|at| characters[*at] == wanted);
    let Some(mut at) = find(0, ';') else { return found };
    loop {
        let Some(equals) = find(at + 1, '=') else { return found };
        let name: String = characters[at + 1..equals].iter().collect();
        let mut start = equals + 1;
        while characters.get(start).is_some_and(|character| character.is_whitespace()) {
            start += 1;
        }
        let mut value = String::new();
        if characters.get(start) == Some(&'"') {
            start += 1;
            while start < characters.len() && characters[start] != '"' {
                start += usize::from(characters[start] == '\\');
                value.extend(characters.get(start));
                start += 1;
            }
            start += 1;
        } else {
            let end = find(start, ';').unwrap_or(characters.len());
            value = characters[start..end].iter().collect::<String>().trim_end().to_owned();
            start = end;
        }
        found.push((name.trim().to_owned(), value));
        let Some(next) = find(start, ';') else { return found };
        at = next;
    }
}
