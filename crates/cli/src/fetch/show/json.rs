//! JSON formatted for display. Tokens are copied, never read: numbers keep their digits, strings their
//! escapes and members their order.

use std::borrow::Cow;

use anstyle::Style;

use super::{Show, palette::Palette, sorted::sorted};
use crate::terminal::{Painted, escaped_json};

/// Formats or colours JSON, or both, with control characters escaped for a terminal; returns nothing if it is
/// not JSON.
pub(super) fn shown(json: &[u8], show: &Show) -> Option<Painted> {
    let text = std::str::from_utf8(json).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let is_laid_out = show.is_laid_out && show.layout.is_json_formatted;
    let text = if show.is_laid_out && show.layout.sorts_keys {
        Cow::Owned(sorted(text))
    } else {
        Cow::Borrowed(text)
    };
    let text = if show.is_seen { escaped_json(&text) } else { text };
    let out = Painted::new(show.is_seen, show.is_coloured);
    let indent = " ".repeat(show.layout.indent.into());
    let mut writer = Writer { out, depth: 0, is_laid_out, indent, palette: show.palette };
    writer.write(text.as_bytes());
    Some(writer.out)
}

struct Writer {
    out: Painted,
    depth: usize,
    is_laid_out: bool,
    indent: String,
    palette: Palette,
}

impl Writer {
    /// Writes valid JSON token by token.
    fn write(&mut self, json: &[u8]) {
        let mut rest = json;
        while let Some(&first) = rest.first() {
            let length = match first {
                b'"' => string_length(rest),
                b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
                first if is_space(first) => rest.iter().take_while(|byte| is_space(**byte)).count(),
                _ => rest.iter().take_while(|byte| is_in_word(**byte)).count(),
            };
            // Valid JSON has nothing else; a step of nothing would never end.
            let (token, after) = rest.split_at(length.max(1));
            self.token(token, after);
            rest = after;
        }
        if self.is_laid_out {
            self.out.own("\n");
        }
    }

    fn token(&mut self, token: &[u8], after: &[u8]) {
        match token[0] {
            first if is_space(first) => {
                if !self.is_laid_out {
                    self.out.text(token);
                }
            }
            b'{' | b'[' => self.open(token, after),
            b'}' | b']' => self.close(token),
            b',' => {
                self.out.own(",");
                self.new_line();
            }
            b':' => self.out.own(if self.is_laid_out { ": " } else { ":" }),
            _ => self.out.paint(style_of(token, after, &self.palette), token),
        }
    }

    fn open(&mut self, bracket: &[u8], after: &[u8]) {
        self.out.text(bracket);
        self.depth += 1;
        if !matches!(after.trim_ascii_start().first(), Some(b'}' | b']')) {
            self.new_line();
        }
    }

    fn close(&mut self, bracket: &[u8]) {
        self.depth = self.depth.saturating_sub(1);
        // An empty object or array stays on its line.
        if !matches!(self.out.last(), Some(b'{' | b'[')) {
            self.new_line();
        }
        self.out.text(bracket);
    }

    fn new_line(&mut self) {
        if self.is_laid_out {
            self.out.own("\n");
            (0..self.depth).for_each(|_| self.out.own(&self.indent));
        }
    }
}

fn style_of(token: &[u8], after: &[u8], palette: &Palette) -> Style {
    match token[0] {
        b'"' if after.trim_ascii_start().first() == Some(&b':') => palette.key,
        b'"' => palette.string,
        b'-' | b'0'..=b'9' => palette.number,
        _ => palette.word,
    }
}

/// Returns the length of the string at the beginning of `text`, with both quotes.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const fn is_in_word(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Layout;

    fn show(is_laid_out: bool, is_coloured: bool) -> Show {
        Show { is_laid_out, is_coloured, ..Show::default() }
    }

    /// Returns the output as text.
    fn text(json: &[u8], show: &Show) -> Option<String> {
        shown(json, show).map(|painted| String::from_utf8(painted.into_bytes()).unwrap())
    }

    fn laid_out(json: &str) -> Option<String> {
        text(json.as_bytes(), &show(true, false))
    }

    #[test]
    fn tokens_stay_as_they_are_written() {
        for (json, expected) in [
            ("1", "1\n"),
            (" -0.0 ", "-0.0\n"),
            ("123456789012345678901234567890.10e+0400", "123456789012345678901234567890.10e+0400\n"),
            (r#""\u00e9\"\\""#, "\"\\u00e9\\\"\\\\\"\n"),
            ("null", "null\n"),
            ("{}", "{}\n"),
            ("[ ]", "[]\n"),
            ("{ \"a\" : [ ] }", "{\n    \"a\": []\n}\n"),
            (
                r#"{"b":1,"a":[true,{"c":"}],:"}]}"#,
                concat!(
                    "{\n    \"b\": 1,\n    \"a\": [\n        true,\n        {\n",
                    "            \"c\": \"}],:\"\n        }\n    ]\n}\n"
                ),
            ),
            (r#"{"a":1,"a":2}"#, "{\n    \"a\": 1,\n    \"a\": 2\n}\n"),
        ] {
            assert_eq!(laid_out(json).as_deref(), Some(expected), "{json}");
        }
    }

    #[test]
    fn what_is_no_json_is_left_to_others() {
        for wrong in ["", "{", "{a:1}", "1 2", "\"\n\"", "01", "[1,]", "nul", "\u{feff}1"] {
            assert_eq!(laid_out(wrong), None, "{wrong:?}");
        }
        assert_eq!(text(b"\"\xff\"", &show(true, false)), None);
        let deep = "[".repeat(100_000);
        assert_eq!(laid_out(&deep), None);
    }

    #[test]
    fn colours_add_escapes_and_nothing_else() {
        let json = "{ \"a\" :\n[1, \"b\", null]}";
        let coloured = text(json.as_bytes(), &show(false, true)).unwrap();
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), json);
        assert!(coloured.contains("\x1b[34m\"a\"\x1b[0m"), "{coloured:?}");
        assert!(coloured.contains("\x1b[36m1\x1b[0m") && coloured.contains("\x1b[32m\"b\"\x1b[0m"));
        assert_eq!(text(json.as_bytes(), &show(false, false)).unwrap(), json);
    }

    #[test]
    fn the_layout_is_the_one_that_is_asked_for() {
        let json = b"{\"b\":1,\"a\":[2]}";
        let with = |layout: Layout| text(json, &Show { layout, ..show(true, false) }).unwrap();
        let layout = Layout { indent: 1, sorts_keys: true, ..Layout::default() };
        assert_eq!(with(layout), "{\n \"a\": [\n  2\n ],\n \"b\": 1\n}\n");
        assert_eq!(with(Layout { is_json_formatted: false, ..layout }), "{\"a\":[2],\"b\":1}");
    }

    #[test]
    fn strings_for_a_terminal_hold_nothing_that_it_obeys() {
        let json = "{\"a\u{9b}31m\":\r\n\"\u{7f}\"}";
        for (is_seen, expected) in [(true, "{\"a\\u009b31m\":\n\"\\u007f\"}"), (false, json)] {
            let show = Show { is_seen, ..Show::default() };
            assert_eq!(text(json.as_bytes(), &show).unwrap(), expected);
        }
    }
}
