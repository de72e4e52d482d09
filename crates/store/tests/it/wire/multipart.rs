//! Contents of several parts, framed as the store frames them: an empty line first, and no line after the
//! end.

use crate::wire::answer::Answer;

/// The boundary that a media type names.
pub(crate) fn boundary(media_type: &str) -> Option<&str> {
    let (kind, boundary) = media_type.split_once("boundary=")?;
    kind.starts_with("multipart/mixed;").then_some(boundary)
}

/// Splits content into its parts.
///
/// # Errors
/// The framing is another.
pub(crate) fn parts(content: &[u8], boundary: &str) -> Result<Vec<Answer>, String> {
    let end = format!("\r\n--{boundary}--\r\n");
    let separator = format!("\r\n--{boundary}\r\n");
    let content = content.strip_suffix(end.as_bytes()).ok_or_else(|| format!("does not end with {end:?}"))?;
    let mut parts = split(content, separator.as_bytes()).into_iter();
    match parts.next() {
        Some([]) => parts.map(part).collect(),
        _ => Err(format!("does not begin with {separator:?}")),
    }
}

/// A part: fields, an empty line, and bytes.
fn part(bytes: &[u8]) -> Result<Answer, String> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").ok_or("a part without an empty line")?;
    let fields = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let field = |line: &str| {
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("{line:?} is no field of a part"))?;
        Ok((name.to_ascii_lowercase(), value.to_owned()))
    };
    let fields = fields.split("\r\n").map(field).collect::<Result<_, String>>()?;
    Ok(Answer { status: 0, fields, content: bytes[head + 4..].to_vec() })
}

fn split<'a>(mut bytes: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = bytes.windows(separator.len()).position(|window| window == separator) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + separator.len()..];
    }
    parts.push(bytes);
    parts
}

#[test]
fn parts_are_split() {
    let content = b"\r\n--X\r\nA: b\r\n\r\none\r\n--X\r\nA: c\r\n\r\n\r\n--X--\r\n";
    let parts = parts(content, "X").expect("two parts");
    assert_eq!(parts.len(), 2);
    assert_eq!((&*parts[0].content, &*parts[1].content), (&b"one"[..], &b""[..]));
    assert_eq!(parts[1].value("a").as_deref(), Some("c"));
}

#[test]
fn another_framing_is_an_error() {
    for content in [
        "--X\r\nA: b\r\n\r\none\r\n--X--\r\n",
        "\r\n--X\r\nA: b\r\n\r\none\r\n--X--",
        "\r\n--X\r\none\r\n--X--\r\n",
    ] {
        assert!(parts(content.as_bytes(), "X").is_err(), "{content:?}");
    }
}
