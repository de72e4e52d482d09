//! Texts of cases: escapes, and wildcards where something is expected.

use crate::wire::variables::Variables;

/// A text with its variables and escapes replaced.
#[derive(Debug)]
pub(crate) struct Pattern(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Bytes(Vec<u8>),
    /// `{*}`
    Any,
    /// `{alnum}`
    Alphanumeric,
}

impl Pattern {
    /// Reads a text.
    ///
    /// # Errors
    /// A variable has no value.
    pub(crate) fn read(text: &str, variables: &Variables) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '\\']) {
            push(&mut pieces, &rest.as_bytes()[..at]);
            rest = &rest[at..];
            rest = match rest.starts_with('{') {
                true => braced(rest, &mut pieces, variables)?,
                false => escape(rest, &mut pieces),
            };
        }
        push(&mut pieces, rest.as_bytes());
        Ok(Self(pieces))
    }

    /// Returns true if the pattern is these bytes.
    pub(crate) fn matches(&self, bytes: &[u8]) -> bool {
        matches(&self.0, bytes)
    }

    /// The bytes, if the pattern has no wildcard.
    ///
    /// # Errors
    /// It has one.
    pub(crate) fn into_bytes(self) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        for piece in self.0 {
            match piece {
                Piece::Bytes(bytes) => all.extend(bytes),
                Piece::Any | Piece::Alphanumeric => return Err("a wildcard is no text to send".into()),
            }
        }
        Ok(all)
    }
}

/// Adds what stands in braces, or the brace itself if that is no name; returns what follows.
fn braced<'t>(text: &'t str, pieces: &mut Vec<Piece>, variables: &Variables) -> Result<&'t str, String> {
    let Some((name, rest)) = text[1..].split_once('}') else {
        push(pieces, b"{");
        return Ok(&text[1..]);
    };
    match name {
        "*" => pieces.push(Piece::Any),
        "alnum" => pieces.push(Piece::Alphanumeric),
        _ if !is_name(name) => {
            push(pieces, b"{");
            return Ok(&text[1..]);
        }
        _ => push(pieces, variables.value(name)?.as_bytes()),
    }
    Ok(rest)
}

/// Adds the byte of an escape; returns what follows.
fn escape<'t>(text: &'t str, pieces: &mut Vec<Piece>) -> &'t str {
    let hexadecimal = text.strip_prefix("\\x").and_then(|text| text.get(..2));
    let byte = hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let (byte, length) = match (text.as_bytes().get(1), byte) {
        (_, Some(byte)) => (byte, 4),
        (Some(b'n'), _) => (b'\n', 2),
        (Some(b'r'), _) => (b'\r', 2),
        (Some(b't'), _) => (b'\t', 2),
        (Some(b'\\'), _) => (b'\\', 2),
        _ => (b'\\', 1),
    };
    push(pieces, &[byte]);
    &text[length..]
}

/// `vclock`, `vclock@2`, `%etag`, `x*100`
pub(crate) fn is_name(name: &str) -> bool {
    let times =
        name.split_once('*').is_some_and(|(of, count)| of.len() == 1 && count.parse::<usize>().is_ok());
    let name = name.strip_prefix('%').unwrap_or(name);
    let is_word = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'@'));
    times || is_word
}

fn push(pieces: &mut Vec<Piece>, bytes: &[u8]) {
    match pieces.last_mut() {
        Some(Piece::Bytes(last)) => last.extend_from_slice(bytes),
        _ => pieces.push(Piece::Bytes(bytes.to_vec())),
    }
}

fn matches(pieces: &[Piece], bytes: &[u8]) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return bytes.is_empty() };
    match first {
        Piece::Bytes(own) => bytes.strip_prefix(&own[..]).is_some_and(|bytes| matches(rest, bytes)),
        Piece::Any => (0..=bytes.len()).any(|length| matches(rest, &bytes[length..])),
        Piece::Alphanumeric => {
            let length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            (1..=length).rev().any(|length| matches(rest, &bytes[length..]))
        }
    }
}

#[test]
fn what_matches() {
    let mut variables = Variables::default();
    variables.set("a", "letter");
    for (text, bytes, is_match) in [
        ("{a}", "letter", true),
        ("{a}\\n", "letter\n", true),
        ("{x*3}", "xxx", true),
        ("\\x41\\\\", "A\\", true),
        ("a{*}b", "ab", true),
        ("a{*}b", "a12b", true),
        ("a{*}b", "a12", false),
        ("\"{alnum}\"", "\"aB3\"", true),
        ("\"{alnum}\"", "\"\"", false),
        ("\"{alnum}\"", "\"a-b\"", false),
        ("{\"a\":{}}", "{\"a\":{}}", true),
    ] {
        let pattern = Pattern::read(text, &variables).expect(text);
        assert_eq!(pattern.matches(bytes.as_bytes()), is_match, "{text} {bytes}");
    }
    assert!(Pattern::read("{nobody}", &variables).is_err());
}
