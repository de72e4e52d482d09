//! The encoding of forms and queries, `application/x-www-form-urlencoded` of the WHATWG URL standard.

use std::fmt::{self, Display, Write as _};

use url::form_urlencoded::byte_serialize;

/// Appends encoded pairs to text. Allocates for the text alone.
pub struct Encoder<'t> {
    text: &'t mut String,
    /// The separator before the next pair.
    before: Option<char>,
}

impl<'t> Encoder<'t> {
    /// Starts a form in empty text.
    pub(super) fn of_form(text: &'t mut String) -> Self {
        Self { text, before: None }
    }

    /// Starts at the end of a path, in its query or a new one.
    pub(super) fn of_path(text: &'t mut String) -> Self {
        let before = Some(if text.contains('?') { '&' } else { '?' });
        Self { text, before }
    }

    pub(super) fn pair(&mut self, name: &impl Display, value: &impl Display) -> fmt::Result {
        self.text.extend(self.before.replace('&'));
        write!(Escaped(self.text), "{name}")?;
        self.text.push('=');
        write!(Escaped(self.text), "{value}")
    }
}

/// Text whose additions are escaped.
struct Escaped<'t>(&'t mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend(byte_serialize(text.as_bytes()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use url::form_urlencoded::Serializer;

    use super::*;

    #[test]
    fn pairs_are_written_as_the_url_crate_writes_them() {
        let pairs = [("a b", "c&d=e+f"), ("", "é*-._~"), ("%", "\n\0/?")];
        let mut text = String::new();
        let mut encoder = Encoder::of_form(&mut text);
        pairs.iter().for_each(|(name, value)| encoder.pair(name, value).unwrap());
        assert_eq!(text, Serializer::new(String::new()).extend_pairs(pairs).finish());
    }

    #[test]
    fn a_query_begins_or_goes_on() {
        for (path, expected) in [("/", "/?n=1&m=2.5"), ("/a?b", "/a?b&n=1&m=2.5"), ("/?", "/?&n=1&m=2.5")] {
            let mut text = path.to_owned();
            let mut encoder = Encoder::of_path(&mut text);
            encoder.pair(&"n", &1).unwrap();
            encoder.pair(&"m", &2.5).unwrap();
            assert_eq!(text, expected);
        }
    }
}
