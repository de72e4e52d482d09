//! Values with parameters, and lists of them: `text/html;charset="utf-8", */*;q=0.1` (RFC 9110 §5.6).
//!
//! Rule 1: a separator in a quoted string separates nothing. A string that is not closed goes to the end.
//!
//! Rule 2: a parameter without `=` has no value, and hides none of those behind it.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::text::bytes;

/// The weight of an element that names none (RFC 9110 §12.4.2).
const WEIGHT_MAX: u16 = 1_000;

/// The pieces of a value between separators outside of quoted strings.
#[derive(Clone, Debug)]
pub struct Split<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Iterator for Split<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = end_of_piece(rest, self.separator);
        self.rest = rest.get(end + 1..);
        Some(bytes::trim(&rest[..end]))
    }
}

/// Returns the place of the first separator outside of quoted strings, else the length.
#[inline]
fn end_of_piece(value: &[u8], separator: u8) -> usize {
    // Most values have no quotes.
    match value.iter().position(|byte| *byte == separator || *byte == b'"') {
        Some(quote) if value[quote] == b'"' => quote + end_behind_quote(&value[quote..], separator),
        end => end.unwrap_or(value.len()),
    }
}

/// Returns the same for a value that begins with a quote.
fn end_behind_quote(value: &[u8], separator: u8) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = value.iter().position(|byte| {
        let is_end = *byte == separator && !is_quoted;
        // A backslash escapes within quotes alone (RFC 9110 §5.6.4).
        is_quoted ^= *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && is_quoted && !is_escaped;
        is_end
    });
    end.unwrap_or(value.len())
}

/// Splits a value at a separator, trims the pieces and keeps empty ones. Allocates nothing.
pub fn split(value: &[u8], separator: u8) -> Split<'_> {
    Split { rest: Some(value), separator }
}

/// Returns the elements of a list; empty ones are passed over (RFC 9110 §5.6.1.2). Allocates nothing.
///
/// ```
/// use alula::fields::parameters;
///
/// let mut elements = parameters::elements(b"text/html;a=\"b,c\", , */*;q=0.5");
/// let (html, any) = (elements.next().unwrap(), elements.next().unwrap());
/// assert_eq!((parameters::main(html), parameters::weight(html)), (&b"text/html"[..], Some(1_000)));
/// assert_eq!((parameters::main(any), parameters::weight(any)), (&b"*/*"[..], Some(500)));
/// assert_eq!(parameters::find(html, "a").unwrap(), "b,c");
/// ```
pub fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    split(value, b',').filter(|element| !element.is_empty())
}

/// Returns the part of a value before its parameters, such as a media type without its charset.
pub fn main(value: &[u8]) -> &[u8] {
    split(value, b';').next().unwrap_or_default()
}

/// Returns the parameters of a value, in their order. Allocates nothing.
pub fn of(value: &[u8]) -> impl Iterator<Item = Parameter<'_>> + Clone {
    split(value, b';').skip(1).filter(|piece| !piece.is_empty()).map(Parameter::parse)
}

/// Returns the value of the first parameter of that name that has one, without quotes and escapes. Allocates
/// only where there are escapes or bytes that are not UTF-8, which are replaced.
pub fn find<'a>(value: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    of(value).filter(|parameter| parameter.is(name)).find_map(|parameter| parameter.text())
}

/// Returns the weight of an element in thousandths, 1000 if it has none, or `None` if it cannot be read (RFC
/// 9110 §12.4.2). Digits behind the third are dropped, and the zero before the point may be left out:
/// clients send both.
pub fn weight(element: &[u8]) -> Option<u16> {
    let Some(weight) = of(element).find(|parameter| parameter.is("q")) else { return Some(WEIGHT_MAX) };
    let written = weight.written?;
    let point = bytes::position(written, b'.').unwrap_or(written.len());
    let (whole, fraction) = (&written[..point], written.get(point + 1..).unwrap_or_default());
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    let is_number = has_digits && [whole, fraction].iter().all(|part| part.iter().all(u8::is_ascii_digit));
    let digits = fraction.iter().copied().chain(core::iter::repeat(b'0')).take(3);
    let thousandths = digits.fold(0, |sum: u16, digit| sum * 10 + u16::from(digit.wrapping_sub(b'0')));
    match whole {
        _ if !is_number => None,
        b"" | b"0" => Some(thousandths),
        b"1" if thousandths == 0 => Some(WEIGHT_MAX),
        _ => None,
    }
}

/// Returns true if the values of `accept` take a media type such as `text/html`: the most specific range that
/// contains it has a weight above 0, or there is no value (RFC 9110 §12.5.1). Allocates nothing.
///
/// ```
/// use alula::fields::parameters::accepts;
///
/// let accept = [&b"text/*;q=0, text/html"[..], b"image/avif"];
/// assert!(accepts(accept.into_iter(), "text/html") && !accepts(accept.into_iter(), "text/css"));
/// ```
pub fn accepts<'a>(accept: impl Iterator<Item = &'a [u8]>, media_type: &str) -> bool {
    let mut accept = accept.peekable();
    accept.peek().is_none() || weight_of(accept, media_type).is_some_and(|weight| weight > 0)
}

/// Returns the weight of the most specific range that contains a media type, or `None` if none does. One that
/// cannot be read counts as 1000.
fn weight_of<'a>(accept: impl Iterator<Item = &'a [u8]>, media_type: &str) -> Option<u16> {
    let kind = media_type.split('/').next().unwrap_or_default();
    let precision = |range: &[u8]| match range {
        _ if range.eq_ignore_ascii_case(media_type.as_bytes()) => Some(3),
        [own @ .., b'/', b'*'] if own.eq_ignore_ascii_case(kind.as_bytes()) => Some(2),
        b"*/*" => Some(1),
        _ => None,
    };
    let ranges = accept.flat_map(elements).filter_map(|range| Some((precision(main(range))?, range)));
    let best = ranges.max_by_key(|(precision, _)| *precision);
    best.map(|(_, range)| weight(range).unwrap_or(WEIGHT_MAX))
}

/// A parameter of a value: `name`, `name=token` or `name="text"` (RFC 9110 §5.6.6).
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// The name, in any case.
    pub name: &'a [u8],
    /// The value as it was written, `None` if there is no `=`.
    pub written: Option<&'a [u8]>,
}

impl<'a> Parameter<'a> {
    /// Reads one parameter. Blanks around the `=` are passed over, though none are allowed there.
    pub fn parse(text: &'a [u8]) -> Self {
        let end = bytes::position(text, b'=').unwrap_or(text.len());
        let written = text.get(end + 1..).map(bytes::trim);
        Self { name: bytes::trim(&text[..end]), written }
    }

    /// Returns true if it has this name, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns the value without quotes and escapes; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        let written = self.written?;
        let Some(quoted) = written.strip_prefix(b"\"") else {
            return Some(String::from_utf8_lossy(written));
        };
        let end = end_of_quoted(quoted).unwrap_or(quoted.len());
        Some(unescaped(&quoted[..end]))
    }

    /// Returns true if the other has the same name and value, in any case, quoted or not.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_value = || match (self.text(), other.text()) {
            (Some(own), Some(other)) => own.eq_ignore_ascii_case(&other),
            (own, other) => own == other,
        };
        self.name.eq_ignore_ascii_case(other.name) && is_same_value()
    }

    /// Returns true if the value is a quoted string to its end, or has no quote in it.
    pub fn is_whole(&self) -> bool {
        let written = self.written.unwrap_or_default();
        match written.strip_prefix(b"\"") {
            Some(quoted) => end_of_quoted(quoted).is_some_and(|end| end + 1 == quoted.len()),
            None => !written.contains(&b'"'),
        }
    }
}

/// Splits a quoted string, whose quote begins the text, from what is behind it; `None` if it is not closed.
///
/// ```
/// let (value, rest) = alula::fields::parameters::unquote(r#""a \"b\"", c"#).unwrap();
/// assert_eq!((&*value, rest), (r#"a "b""#, ", c"));
/// ```
pub fn unquote(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let quoted = text.strip_prefix('"')?;
    let end = end_of_quoted(quoted.as_bytes())?;
    Some((unescaped(&quoted.as_bytes()[..end]), &quoted[end + 1..]))
}

/// Writes text as a quoted string (RFC 9110 §5.6.4). Characters that no field value may have stay.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        quoted.extend(matches!(character, '"' | '\\').then_some('\\'));
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// Returns the place of the quote that ends a string; one behind a backslash does not.
fn end_of_quoted(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    })
}

/// Takes the backslashes of pairs out of a string.
fn unescaped(quoted: &[u8]) -> Cow<'_, str> {
    if !quoted.contains(&b'\\') {
        return String::from_utf8_lossy(quoted);
    }
    let mut is_escaped = false;
    let is_kept = |byte: &u8| {
        is_escaped = *byte == b'\\' && !is_escaped;
        !is_escaped
    };
    let text: Vec<u8> = quoted.iter().copied().filter(is_kept).collect();
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the name of a file in a value of `content-disposition`: `filename*` in UTF-8, else `filename` (RFC
/// 6266 §4.3). It may be any text, and hold a path; the caller checks it.
///
/// ```
/// use alula::fields::parameters::filename;
///
/// let value = "attachment; filename=\"euro.txt\"; filename*=UTF-8''%e2%82%ac.txt";
/// assert_eq!(filename(value.as_bytes()).as_deref(), Some("€.txt"));
/// ```
pub fn filename(disposition: &[u8]) -> Option<String> {
    let extended = find(disposition, "filename*").and_then(|value| {
        let mut parts = value.splitn(3, '\'');
        let (charset, _, encoded) = (parts.next()?, parts.next()?, parts.next()?);
        let decoded = String::from_utf8(percent_decoded(encoded.as_bytes())).ok()?;
        charset.eq_ignore_ascii_case("utf-8").then_some(decoded)
    });
    // The extended form goes first, also where it comes second.
    extended.or_else(|| find(disposition, "filename").map(Cow::into_owned))
}

/// Decodes `%` and two digits; any other `%` stays.
fn percent_decoded(mut text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    while let [first, rest @ ..] = text {
        let (byte, behind) = match escape(text) {
            Some(byte) => (byte, &text[3..]),
            None => (*first, rest),
        };
        decoded.push(byte);
        text = behind;
    }
    decoded
}

/// Returns the byte of an escape that begins the text.
fn escape(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn separators_in_quotes_separate_nothing() {
        let cut = |text: &str, separator| {
            let pieces = split(text.as_bytes(), separator).map(String::from_utf8_lossy);
            pieces.collect::<Vec<_>>().join("|")
        };
        for (text, pieces) in [
            (r#"a;b="c;\";d" ; e\"#, r#"a|b="c;\";d"|e\"#),
            (r#"a\";b";c"#, r#"a\";b"|c"#),
            ("a;\"b;c", "a|\"b;c"),
            (";", "|"),
            ("", ""),
        ] {
            assert_eq!(cut(text, b';'), pieces, "{text}");
        }
        assert_eq!(elements(b", a,,\"b,\" ,").count(), 2);
        assert_eq!(main(b" text/html ; a=b"), b"text/html");
    }

    #[test]
    fn parameters_are_read_with_quotes_and_without_a_value() {
        let value = br#"form-data; name="a; \"b\\"; FileName = c.txt; odd; name=no; x="; y=\"#;
        let read: Vec<_> =
            of(value).map(|it| format!("{}={:?}", it.name.escape_ascii(), it.text())).collect();
        let expected = [
            r#"name=Some("a; \"b\\")"#,
            r#"FileName=Some("c.txt")"#,
            "odd=None",
            r#"name=Some("no")"#,
            r#"x=Some("; y=")"#,
        ];
        assert_eq!(read, expected);
        assert_eq!(find(value, "NAME").as_deref(), Some(r#"a; "b\"#));
        assert_eq!((find(value, "odd"), find(b"name=no", "name")), (None, None));
        let is_whole = |text: &str| Parameter::parse(text.as_bytes()).is_whole();
        assert!(["a", "a=b", r#"a="b\"""#, "a=\"\""].into_iter().all(is_whole));
        assert!(!["a=\"", "a=\"b\"c", r#"a="\""#, "a=b\"c\""].into_iter().any(is_whole));
    }

    #[test]
    fn a_quoted_string_is_read_as_it_was_written() {
        for text in ["", "a", "\"", "\\", "a\"b\\c\\\\\"", "é;,"] {
            let written = quote(text) + " rest\"";
            assert_eq!(unquote(&written), Some((text.into(), " rest\"")));
        }
        assert_eq!(unquote("\"a\\\""), None);
        assert_eq!(unquote("a"), None);
    }

    #[test]
    fn weights_are_thousandths() {
        for (element, expected) in [
            ("a", Some(1_000)),
            ("a;q=0", Some(0)),
            ("a; Q = 0.000", Some(0)),
            ("a;q=0.", Some(0)),
            ("a;q=0.5;q=0", Some(500)),
            ("a;x=\";q=0\";q=.25", Some(250)),
            ("a;q=0.3339", Some(333)),
            ("a;q=1.000", Some(1_000)),
            ("a;q=1.001", None),
            ("a;q=2", None),
            ("a;q=.", None),
            ("a;q=", None),
            ("a;q", None),
            ("a;q=-1", None),
            ("a;q=0.x", None),
        ] {
            assert_eq!(weight(element.as_bytes()), expected, "{element}");
        }
    }

    #[test]
    fn the_most_specific_range_weighs() {
        for (accept, expected) in [
            (&[][..], None),
            (&["text/html"], Some(1_000)),
            (&["image/avif, */*;q=0.8"], Some(800)),
            (&["TEXT/HTML;level=\"1,*/*\""], Some(1_000)),
            (&["text/*;q=0", "text/html"], Some(1_000)),
            (&["text/html;q=0, */*"], Some(0)),
            (&["text/html;q=much, */*;q=0"], Some(1_000)),
            (&["texthtml", "*", "html/*"], None),
            (&[""], None),
        ] {
            let accept_values = accept.iter().map(|value| value.as_bytes());
            assert_eq!(weight_of(accept_values, "text/html"), expected, "{accept:?}");
        }
    }

    #[test]
    fn a_disposition_names_a_file() {
        for (disposition, name) in [
            ("attachment; filename=a.txt", Some("a.txt")),
            ("attachment; filename=\"a b.txt\"", Some("a b.txt")),
            ("attachment; FileName = \"a\\\"b;c\" ; x=y", Some("a\"b;c")),
            ("attachment; x=\"; filename=no\"; filename=yes", Some("yes")),
            ("attachment; hidden; filename=yes", Some("yes")),
            ("attachment; filename=a; filename*=UTF-8''%e2%82%ac", Some("€")),
            ("attachment; filename*=utf-8'en'a'%b%+1", Some("a'%b%+1")),
            ("attachment; filename*=iso-8859-1''%a3; filename=a", Some("a")),
            ("attachment; filename*=UTF-8''%ff; filename=a", Some("a")),
            ("attachment; filename=\"a", Some("a")),
            ("attachment", None),
            ("filename=a", None),
            ("attachment; filename", None),
        ] {
            assert_eq!(filename(disposition.as_bytes()).as_deref(), name, "{disposition}");
        }
    }
}
