//! Patterns that terms are searched for (Riak §11.5).
//!
//! A pattern is a regular expression of the crate `regex`, searched anywhere in the bytes of a term: `^` and
//! `$` bind it to the ends. Its time is linear in the length of the term whatever the pattern is, for which
//! it has no back-references and does not look around. It sees bytes: `.` is one byte other than a line
//! feed, and `\w`, `\d` and classes are of ASCII unless the pattern begins with `(?u)`; `\p{…}` there names
//! general categories, such as `\p{Lu}`, and nothing else.

use regex::bytes::{Regex, RegexBuilder};

use crate::http::answer::fail::Fail;

/// The bytes of a pattern, before it is parsed: what a parser makes of them may be ten thousand times as
/// long.
const BYTES_MAX: usize = 1024;

/// The classes of characters in a pattern, such as `\w`: behind `(?u)` each is parsed to ten kilobytes of
/// ranges. One that names a category, `\p`, counts as eight.
const CLASSES_MAX: usize = 256;
const CATEGORY_CLASSES: usize = 8;

/// The bytes that a compiled pattern may take: some thousand characters of pattern, or a hundred repetitions
/// of a class. The time of a search is in proportion to it.
const COMPILED_BYTES_MAX: usize = 1 << 18;

/// The bytes that a search may cache.
const SEARCH_BYTES_MAX: usize = 1 << 20;

/// The parentheses that a pattern may have within each other.
const NESTING_MAX: u32 = 50;

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors 400 if it is longer than 1024 bytes or has too many classes, which is found before it is
    /// parsed; if it is no UTF-8, no pattern, or too long once it is compiled.
    pub(crate) fn compile(pattern: &[u8]) -> Result<Self, Fail> {
        if pattern.len() > BYTES_MAX {
            let bytes = pattern.len();
            let text = format!("Invalid \"term_regex\". It has {bytes} bytes, and {BYTES_MAX} are allowed\n");
            return Err(Fail::bad_request(text));
        }
        if classes(pattern) > CLASSES_MAX {
            let text = format!(
                "Invalid \"term_regex\". It has more than {CLASSES_MAX} classes such as \\w; one of \\p counts as {CATEGORY_CLASSES}\n"
            );
            return Err(Fail::bad_request(text));
        }
        let text = std::str::from_utf8(pattern)
            .map_err(|_| Fail::bad_request("Invalid \"term_regex\". The pattern is not UTF-8\n"))?;
        let compiled = RegexBuilder::new(text)
            .unicode(false)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(SEARCH_BYTES_MAX)
            .nest_limit(NESTING_MAX)
            .build();
        compiled.map(Self).map_err(|error| Fail::bad_request(format!("Invalid \"term_regex\". {error}\n")))
    }

    /// Returns the pattern with an empty cache.
    pub(crate) fn for_one_search(&self) -> Self {
        self.clone()
    }

    /// Returns true if the pattern matches in these bytes.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }
}

/// Counts the classes of a pattern. What follows a backslash is no backslash.
fn classes(pattern: &[u8]) -> usize {
    let mut bytes = pattern.iter();
    let mut classes = 0;
    while let Some(byte) = bytes.next() {
        classes += match (byte, if *byte == b'\\' { bytes.next() } else { None }) {
            (b'\\', Some(b'p' | b'P')) => CATEGORY_CLASSES,
            (b'\\', Some(b'w' | b'W' | b'd' | b'D' | b's' | b'S')) => 1,
            _ => 0,
        };
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_searched_anywhere_in_bytes() {
        for (pattern, bytes, is_in) in [
            ("b", &b"abc"[..], true),
            ("^b", b"abc", false),
            ("^a.c$", b"abc", true),
            ("", b"", true),
            ("^.$", b"\xff", true),
            (r"\xff", b"a\xff", true),
            ("\u{fc}", "gr\u{fc}n".as_bytes(), true),
            ("(?i)ABC", b"xabc", true),
            (r"(?u)^\w$", "\u{fc}".as_bytes(), true),
            (r"^\w$", "\u{fc}".as_bytes(), false),
            (r"(?u)^\p{Lu}$", "\u{dc}".as_bytes(), true),
            (r"(?u)^\p{Lu}$", "\u{fc}".as_bytes(), false),
            (r"(?u)(?i)^\p{Lu}$", "\u{fc}".as_bytes(), true),
            ("(a|aa)+$", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
        ] {
            let compiled = Pattern::compile(pattern.as_bytes()).expect(pattern);
            assert_eq!(compiled.is_in(bytes), is_in, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_compiled_is_refused() {
        let nested = "(".repeat(200) + &")".repeat(200);
        for pattern in ["(", "[a", "*", r"(a)\1", "(?=a)", "a{1000}{1000}", r"(?u)\p{Greek}", &nested] {
            assert!(Pattern::compile(pattern.as_bytes()).is_err(), "{pattern}");
        }
        assert!(Pattern::compile(b"\xff").is_err());
    }

    #[test]
    fn bounds_are_those_of_the_text() {
        for (unit, count) in [("a", BYTES_MAX), (r"\w", CLASSES_MAX), (r"\\w", BYTES_MAX / 3), (r"[\pL]", 32)]
        {
            let (start, end) = if unit == "a" { ("", "") } else { ("(?u)[", "]") };
            let most = format!("{start}{}{end}", unit.repeat(count));
            assert!(Pattern::compile(most.as_bytes()).is_ok() || unit == r"\\w", "{unit}");
            let more = format!("{start}{}{end}", unit.repeat(count + 1));
            assert!(Pattern::compile(more.as_bytes()).is_err(), "{unit}");
        }
        assert_eq!(classes(br"\\w\\\w\b\p{Lu}\"), 1 + CATEGORY_CLASSES);
    }
}
