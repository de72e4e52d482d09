//! The file name in the field `content-disposition`: of a response (RFC 6266), or of a part of a form (RFC
//! 7578 §4.2).
//!
//! The fuzz target `content_disposition` includes this file: nothing but `percent_encoding` is used here.

/// Returns the parameter `filename*` in UTF-8, else `filename` (RFC 6266 §4.3). It may be any text: whether
/// it is a name for a file is for the caller to check.
pub(crate) fn filename(disposition: &str) -> Option<String> {
    let extended = parameter(disposition, "filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, encoded) = rest.split_once('\'')?;
        let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8().ok()?;
        charset.eq_ignore_ascii_case("utf-8").then(|| decoded.into_owned())
    });
    // The extended form goes first, also where it comes second (RFC 6266 §4.3).
    extended.or_else(|| parameter(disposition, "filename"))
}

/// Returns the value of a parameter, without quotes and backslashes (RFC 9110 §5.6.6).
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (found, after) = token_or_quoted(after.trim_start());
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(found);
        }
        rest = after.split_once(';')?.1;
    }
}

fn token_or_quoted(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_names_its_file() {
        for (disposition, name) in [
            ("attachment; filename=a.txt", Some("a.txt")),
            ("attachment; filename=\"a b.txt\"", Some("a b.txt")),
            ("attachment; FileName = \"a\\\"b;c\" ; x=y", Some("a\"b;c")),
            ("attachment; x=\"; filename=no\"; filename=yes", Some("yes")),
            ("attachment; filename=a; filename*=UTF-8''%e2%82%ac", Some("€")),
            ("attachment; filename*=iso-8859-1''%a3; filename=a", Some("a")),
            ("attachment; filename*=UTF-8''%ff; filename=a", Some("a")),
            ("attachment; filename=\"a", Some("a")),
            ("attachment", None),
            ("filename=a", None),
            ("attachment; filename", None),
        ] {
            assert_eq!(filename(disposition).as_deref(), name, "{disposition}");
        }
    }
}
