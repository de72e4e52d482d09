//! The formats of recordings: raw bytes, and text in hexadecimal digits.
//!
//! Text is what `curl --trace`, `xxd`, `xxd -p` and `hexdump -C` write. Lines that begin with `=>` or `<=`
//! say that what follows was sent by the client or by the server; lines that begin with `==` are passed over.

use std::fmt;

/// The direction of bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    FromClient,
    FromServer,
}

impl Way {
    /// Returns the first character of its lines.
    pub(super) const fn mark(self) -> char {
        match self {
            Self::FromClient => '>',
            Self::FromServer => '<',
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FromClient => "from the client",
            Self::FromServer => "from the server",
        })
    }
}

/// Successive bytes of one direction, which may be unknown.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Section {
    pub(super) way: Option<Way>,
    pub(super) bytes: Vec<u8>,
}

/// The bytes on a line of `xxd`, `hexdump -C` and curl; their text follows them.
const LINE_BYTES: usize = 16;

/// Reads a recording.
///
/// # Errors
/// It is neither of HTTP/2 nor in hexadecimal digits; the sentence says what it is.
pub(super) fn read(recorded: &[u8]) -> Result<Vec<Section>, String> {
    let is_text = recorded.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n'));
    // The preface of HTTP/2 is text as well, and would be taken for a dump of digits.
    let text = std::str::from_utf8(recorded).ok().filter(|_| is_text && !recorded.starts_with(b"PRI * "));
    let sections = match text {
        Some(_) if is_http1(recorded) => return Err(HTTP1.to_owned()),
        Some(text) => of_text(text)?,
        None => vec![Section { way: None, bytes: recorded.to_vec() }],
    };
    match sections.first() {
        Some(section) if is_http1(&section.bytes) => Err(HTTP1.to_owned()),
        Some(section) if is_tls(&section.bytes) => {
            Err("these are records of TLS, not what is inside them".to_owned())
        }
        _ => Ok(sections),
    }
}

const HTTP1: &str = "this is HTTP/1.1, which has no frames";

fn is_http1(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.starts_with(b"HTTP/1.") || line.ends_with(b" HTTP/1.1") || line.ends_with(b" HTTP/1.0")
}

fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [20..=23, 3, 0..=4, ..])
}

/// Reads text in hexadecimal digits.
fn of_text(text: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    let mut way = None;
    for (number, line) in text.lines().enumerate() {
        match line.get(..2) {
            Some("=>") => way = Some(Way::FromClient),
            Some("<=") => way = Some(Way::FromServer),
            Some("==") => {}
            _ => {
                let malformed = || format!("line {} has something else than hexadecimal digits", number + 1);
                let bytes = of_line(line).ok_or_else(malformed)?;
                match sections.last_mut() {
                    Some(last) if last.way == way => last.bytes.extend(bytes),
                    _ => sections.push(Section { way, bytes }),
                }
            }
        }
    }
    sections.retain(|section| !section.bytes.is_empty());
    Ok(sections)
}

/// Returns the bytes of a line, with or without an offset before and their text behind.
fn of_line(line: &str) -> Option<Vec<u8>> {
    // `hexdump -C` has bars around the text, two spaces in the middle, and an offset alone at the end.
    if let Some((offset, rest)) = line.split_once("  ").filter(|_| line.ends_with('|')) {
        return is_hex(offset).then(|| digits(rest.split('|').next()?))?;
    }
    if let Some((_, rest)) = line.split_once(':').filter(|(offset, _)| is_hex(offset)) {
        let rest = rest.trim_start();
        let alone = rest.split("  ").next().unwrap_or_default();
        return digits(first_bytes(alone));
    }
    // The last line of `hexdump -C` is an offset alone, and looks like four bytes.
    let is_end = line.len() == 8 && line.starts_with("00");
    if is_end { Some(Vec::new()) } else { digits(line) }
}

/// Returns the beginning of a line up to its last byte.
fn first_bytes(text: &str) -> &str {
    let mut digits = 0;
    let end = text.bytes().position(|byte| {
        digits += usize::from(byte != b' ');
        digits > 2 * LINE_BYTES
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the bytes for digits, with or without white space between them.
pub(super) fn digits(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().filter(|character| !character.is_ascii_whitespace());
    let digits: Option<Vec<u8>> = digits.map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
