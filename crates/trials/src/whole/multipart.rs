//! A form of many parts that comes in pieces, against a reader that has all of it as one text.

use alula_fields::FieldSection;
use alula_server::fuzzing::multipart_parts;

/// Bytes of a form that reaches no limit on a head or delimiter.
const UNLIMITED_BYTES_MAX: usize = 256;

/// The first byte is the size of the pieces, the others are the form, whose boundary is `b`.
pub fn multipart(data: &[u8]) {
    let Some((size, form)) = data.split_first() else { return };
    let whole = multipart_parts("b", &[form]);
    let pieces: Vec<&[u8]> = form.chunks(usize::from(*size).max(1)).collect();
    assert_eq!(multipart_parts("b", &pieces), whole, "pieces of {size} bytes");
    let expected = naive(form);
    match whole {
        (parts, true) => assert_eq!(Some(parts), expected),
        (_, false) if form.len() <= UNLIMITED_BYTES_MAX => assert_eq!(expected, None),
        _ => {}
    }
}

/// The contents of the parts, if the form is whole and good.
fn naive(form: &[u8]) -> Option<Vec<Vec<u8>>> {
    // Each byte becomes one character, so that nothing is lost.
    let form: String = "\r\n".chars().chain(form.iter().map(|byte| char::from(*byte))).collect();
    let (_, mut rest) = form.split_once("\r\n--b")?;
    let mut parts = Vec::new();
    loop {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_blank = |text: &str| text.trim_matches([' ', '\t']).is_empty();
        if let Some(end) = line.strip_prefix("--") {
            return is_blank(end.strip_suffix('\r').unwrap_or(end)).then_some(parts);
        }
        if !is_blank(line.strip_suffix('\r')?) || line.len() == rest.len() {
            return None;
        }
        let (head, content) = match behind.strip_prefix("\r\n") {
            Some(content) => ("", content),
            None => behind.split_once("\r\n\r\n")?,
        };
        if !head.is_empty() && !head.split("\r\n").all(is_field) {
            return None;
        }
        let (part, after) = content.split_once("\r\n--b")?;
        parts.push(bytes(part));
        rest = after;
    }
}

fn is_field(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    FieldSection::new().append(name, bytes(value.trim_matches([' ', '\t']))).is_ok()
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).expect("a byte")).collect()
}
