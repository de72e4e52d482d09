//! Text from elsewhere on one line, so that it cannot forge a line of a log or control a terminal.

use core::fmt::{self, Write};

/// Writes text on one line, and escapes all characters that control a terminal, a log or an editor.
///
/// Escaped as `\n`, `\u{1b}` or `\u{202e}` are the controls of C0 and C1 with DEL, the separators of lines
/// and paragraphs (U+2028 and U+2029), and the characters that change the direction of text (U+061C, U+200E,
/// U+200F, U+202A to U+202E, U+2066 to U+2069). All else is written as it is, a backslash as well, so that
/// text which has passed once passes unchanged again.
///
/// The [`Display`](fmt::Display) of errors is written by it. Allocates nothing.
///
/// ```
/// use std::fmt::Write as _;
/// use alula::fields::OneLine;
///
/// let mut line = String::new();
/// write!(OneLine(&mut line), "no user {}", "x\r\n\u{1b}[2Jroot").unwrap();
/// assert_eq!(line, r"no user x\r\n\u{1b}[2Jroot");
/// ```
#[derive(Debug)]
pub struct OneLine<W>(pub W);

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(&mut self.0, text, is_control_or_direction)
    }
}

/// Shows a value by its `Debug` with the same characters escaped. The form of several lines, `{:#?}`, keeps
/// its line ends.
///
/// For values of others, whose `Debug` may give text as it is.
#[derive(Clone, Copy)]
pub struct EscapedDebug<T>(pub T);

impl<T: fmt::Debug> fmt::Debug for EscapedDebug<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => write!(Lines(f), "{:#?}", self.0),
            false => write!(OneLine(f), "{:?}", self.0),
        }
    }
}

/// Writes like [`OneLine`], but keeps line ends.
struct Lines<W>(W);

impl<W: Write> Write for Lines<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(&mut self.0, text, |character| character != '\n' && is_control_or_direction(character))
    }
}

fn escape(out: &mut impl Write, text: &str, is_escaped: impl Fn(char) -> bool) -> fmt::Result {
    // Access logs write every target this way, and nearly all are printable ASCII.
    if is_printable_ascii(text) {
        return out.write_str(text);
    }
    for piece in text.split_inclusive(&is_escaped) {
        let plain = piece.trim_end_matches(&is_escaped);
        out.write_str(plain)?;
        write!(out, "{}", piece[plain.len()..].escape_default())?;
    }
    Ok(())
}

/// Returns true if all characters are printable ASCII, in a loop without branches; nothing has to be escaped
/// then.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().fold(true, |is_printable, byte| is_printable & matches!(byte, b' '..=b'~'))
}

/// Returns true for the characters that [`OneLine`] escapes: controls, separators of lines and paragraphs,
/// and marks of direction.
pub fn is_control_or_direction(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    fn one_line(text: &str) -> String {
        let mut line = String::new();
        OneLine(&mut line).write_str(text).unwrap();
        line
    }

    #[test]
    fn nothing_that_is_control_or_direction_is_left_and_all_else_is() {
        for character in '\0'..=char::MAX {
            let shown = one_line(&format!("a{character}b"));
            let is_plain = !is_control_or_direction(character);
            assert_eq!(shown == format!("a{character}b"), is_plain, "{shown}");
            assert!(is_plain || shown.is_ascii(), "{shown}");
        }
    }

    #[test]
    fn a_text_is_escaped_once() {
        let once = one_line("\\ \r\n\t\0\x1b[31m\u{7f}\u{85}\u{202e}é\u{301}🜁");
        assert_eq!(once, "\\ \\r\\n\\t\\u{0}\\u{1b}[31m\\u{7f}\\u{85}\\u{202e}é\u{301}🜁");
        assert_eq!(one_line(&once), once);
    }

    #[test]
    fn several_lines_stay_several() {
        let shown = format!("{:#?}", EscapedDebug(Some(format_args!("\x1b"))));
        assert_eq!(shown, "Some(\n    \\u{1b},\n)");
        assert_eq!(format!("{:?}", EscapedDebug(format_args!("a\nb"))), "a\\nb");
    }
}
