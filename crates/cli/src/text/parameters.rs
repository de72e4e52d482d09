//! Parameters of field values: `name=value` or `name="value"`, as `content-type`, `content-disposition` and
//! `authorization` have them (RFC 9110 §5.6.6, §11.4).

/// Returns the parameters of a value in their order, with names in lower case; malformed ones are skipped.
pub(crate) fn parse(mut text: &str, separator: char) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let (value, rest) = until(text, separator);
        if let Some((name, value)) = value.split_once('=') {
            found.push((name.trim().to_ascii_lowercase(), unquoted(value.trim())));
        }
        text = rest;
    }
    found
}

/// Returns the value of a parameter.
pub(crate) fn find<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    parameters.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
}

/// Splits text at a separator outside quotes.
fn until(text: &str, separator: char) -> (&str, &str) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            // A backslash escapes within quotes alone (RFC 9110 §5.6.4).
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            other if other == separator && !is_quoted => {
                return (&text[..at], &text[at + other.len_utf8()..]);
            }
            _ => {}
        }
    }
    (text, "")
}

/// Returns a value without its quotes and escapes.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let (mut text, mut is_escaped) = (String::new(), false);
    for character in inner.chars() {
        match character {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => break,
            other => {
                text.push(other);
                is_escaped = false;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_quotes_separate_nothing() {
        let found = parse(r#"form-data; name="a; \"b\\"; FileName=c.txt; odd; x=""#, ';');
        let expected = [("name", r#"a; "b\"#), ("filename", "c.txt"), ("x", "")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(find(&found, "filename"), Some("c.txt"));
        assert_eq!(parse("a=b,c=\"d,e", ',').len(), 2);
        assert_eq!(find(&parse("", ';'), "a"), None);
    }
}
