//! Output to terminals: text in which all control sequences are escaped.
//!
//! Rule: bytes that a peer has a say in reach a terminal through [`escaped`], [`Escaper`], [`Painted`] or
//! [`tell`] only. Shown as `\x1b` or `\u{9b}` are the controls of C0 but tab and newline, DEL, those of C1,
//! and bytes that are no UTF-8: a terminal may obey them one by one. A pipe or a file gets every byte as it
//! came.

pub(crate) mod wrapping;

use std::{
    borrow::Cow,
    env,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use anstyle::Style;
use indicatif::ProgressBar;

use crate::terminal::wrapping::wrapped;

/// The beginnings of lines that are broken at words on a terminal, with the beginning of the next line.
/// Others are data, which is shown as it is.
const BROKEN: [(&[u8], &str); 2] = [(b"alula: ", "  "), (b"* ", "*   ")];

/// Bytes of an unfinished character, at most.
const UNFINISHED_MAX: usize = 3;

/// Returns a whole text with control characters escaped.
pub(crate) fn escaped(text: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains(is_obeyed) => Cow::Borrowed(text.as_bytes()),
        _ => {
            let mut shown = String::with_capacity(text.len() * 2);
            push(&mut shown, text);
            Cow::Owned(shown.into_bytes())
        }
    }
}

/// Returns equivalent JSON without control characters. It is known to be valid, so that DEL and C1 stand in
/// strings only, where escapes may, and carriage returns between tokens only, where nothing need stand.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() * 2);
    for character in json.chars() {
        match character {
            // In valid JSON a carriage return is white space, and a terminal would go back to the first
            // column.
            '\r' => {}
            // A string takes all there is.
            odd if is_obeyed(odd) => drop(write!(shown, "\\u{:04x}", u32::from(odd))),
            plain => shown.push(plain),
        }
    }
    Cow::Owned(shown)
}

/// Escapes a text that comes in pieces, wherever they are cut.
#[derive(Debug, Default)]
pub(crate) struct Escaper {
    /// The end of the last piece, which may begin a character or a line end.
    held: Vec<u8>,
}

impl Escaper {
    /// Returns the escaped text that is certain with this piece.
    pub(crate) fn next(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut bytes = mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        self.held = bytes.split_off(bytes.len() - unfinished(&bytes));
        escaped(&bytes).into_owned()
    }

    /// Returns the rest of the text, at its end.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        escaped(&mem::take(&mut self.held)).into_owned()
    }
}

/// Text with styles for one output: a terminal or not, with colours or without.
#[derive(Debug)]
pub(crate) struct Painted {
    out: Vec<u8>,
    is_seen: bool,
    is_coloured: bool,
}

impl Painted {
    pub(crate) fn new(is_seen: bool, is_coloured: bool) -> Self {
        Self { out: Vec::new(), is_seen, is_coloured }
    }

    /// Appends text from anywhere in this style.
    pub(crate) fn paint(&mut self, style: Style, text: &[u8]) {
        if self.is_coloured {
            self.own(&style.render().to_string());
        }
        self.text(text);
        if self.is_coloured {
            self.own(&style.render_reset().to_string());
        }
    }

    /// Appends text from anywhere.
    pub(crate) fn text(&mut self, text: &[u8]) {
        let text = if self.is_seen { escaped(text) } else { Cow::Borrowed(text) };
        self.out.extend_from_slice(&text);
    }

    /// Appends painted text for the same output.
    pub(crate) fn append(&mut self, other: Self) {
        self.out.extend_from_slice(&other.out);
    }

    /// Appends text of the program or its user unchanged.
    pub(crate) fn own(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Returns what was painted last.
    pub(crate) fn last(&self) -> Option<u8> {
        self.out.last().copied()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}

/// Returns the columns of the terminal, if there is one and they are known.
pub(crate) fn columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(columns, _)| columns.0.into())
}

/// The columns of text that does not go to a terminal.
pub(crate) const COLUMNS: usize = 80;

/// Returns the columns of help: those of the terminal, of COLUMNS, or 80.
pub(crate) fn columns_of_help() -> usize {
    let of_terminal = columns().filter(|_| io::stdout().is_terminal());
    let said = || env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(said).unwrap_or(COLUMNS)
}

/// The progress line at the bottom of the terminal, if there is one.
static LIVE_LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Keeps a progress line below the output of [`tell`], until this is dropped.
pub(crate) struct LiveLine(());

impl LiveLine {
    /// Keeps this line.
    pub(crate) fn keep(line: &ProgressBar) -> Self {
        *live_line() = Some(line.clone());
        Self(())
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        *live_line() = None;
    }
}

fn live_line() -> MutexGuard<'static, Option<ProgressBar>> {
    LIVE_LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a function while the progress line is hidden.
fn above_live_line(write: impl FnOnce()) {
    let line = live_line().clone();
    match line {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// Writes text from anywhere to stderr, in this style if there are styles. A stderr that has gone away is no
/// reason to stop. On a terminal, sentences are broken at words.
pub(crate) fn tell(style: Style, text: &[u8]) {
    let stderr = io::stderr();
    let is_coloured = style != Style::new() && has_colours(&stderr);
    let mut painted = Painted::new(stderr.is_terminal(), is_coloured);
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let line = if stderr.is_terminal() { broken(line) } else { Cow::Borrowed(line) };
    painted.paint(style, &line);
    painted.own("\n");
    let bytes = painted.into_bytes();
    // Bytes without styles pass no filter, which would take some of them out.
    above_live_line(|| {
        let _ =
            if is_coloured { anstream::stderr().write_all(&bytes) } else { stderr.lock().write_all(&bytes) };
    });
}

/// Writes text with the styles of [`BOLD`] to stderr: wrapped on a terminal, and without styles elsewhere.
/// Any other order to the terminal comes from the arguments in the text, and is escaped.
pub(crate) fn tell_styled(text: &str) {
    let mut text = Cow::Borrowed(text);
    if io::stderr().is_terminal() {
        text = escaped_but_bold(&text).into();
        text = columns().map_or(text.clone(), |columns| wrapped(&text, columns, "  ").into());
    }
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// The beginning and the end of bold text.
const BOLD: [&str; 2] = ["\x1b[1m", "\x1b[0m"];

fn escaped_but_bold(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, style)) = BOLD.iter().filter_map(|style| Some((rest.find(style)?, *style))).min() {
        push_text(&mut shown, &rest[..at]);
        shown.push_str(style);
        rest = &rest[at + style.len()..];
    }
    push_text(&mut shown, rest);
    shown
}

/// Wraps a sentence of the program for a terminal; other lines stay.
fn broken(line: &[u8]) -> Cow<'_, [u8]> {
    let indent = BROKEN.iter().find_map(|(begin, indent)| line.starts_with(begin).then_some(indent));
    let Some((indent, columns)) = indent.zip(columns()) else { return Cow::Borrowed(line) };
    let escaped = escaped(line);
    Cow::Owned(wrapped(&String::from_utf8_lossy(&escaped), columns, indent).into_bytes())
}

/// Writes painted text to stderr.
pub(crate) fn tell_painted(painted: Painted) {
    let _ = io::stderr().lock().write_all(&painted.into_bytes());
}

/// Redirects messages from stderr to this file, which is created anew, or to stdout for `-`.
///
/// # Errors
/// The file cannot be made.
#[cfg(unix)]
pub(crate) fn redirect_stderr(path: &std::path::Path) -> io::Result<()> {
    let redirected = match path.as_os_str() == "-" {
        true => nix::unistd::dup2_stderr(io::stdout()),
        false => nix::unistd::dup2_stderr(std::fs::File::create(path)?),
    };
    redirected.map_err(io::Error::from)
}

fn has_colours(stderr: &io::Stderr) -> bool {
    anstream::AutoStream::choice(stderr) != anstream::ColorChoice::Never
}

/// Returns true for a character that controls a terminal.
fn is_obeyed(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n')
}

fn push(shown: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        push_text(shown, chunk.valid());
        for byte in chunk.invalid() {
            // A string takes all there is.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
}

fn push_text(shown: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        let (plain, odd) = rest.split_at(at);
        shown.push_str(plain);
        // A carriage return before a newline is a part of it.
        rest = odd.strip_prefix("\r\n").map_or_else(|| push_odd(shown, odd), |_| &odd[1..]);
    }
    shown.push_str(rest);
}

/// Shows the first character, and returns the rest.
fn push_odd<'t>(shown: &mut String, text: &'t str) -> &'t str {
    let mut characters = text.chars();
    let _ = match characters.next() {
        Some(odd) if odd.is_ascii() => write!(shown, "\\x{:02x}", u32::from(odd)),
        Some(odd) => write!(shown, "\\u{{{:x}}}", u32::from(odd)),
        None => Ok(()),
    };
    characters.as_str()
}

/// Returns the number of bytes at the end that may begin a character or a line end.
fn unfinished(bytes: &[u8]) -> usize {
    let is_begun = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        // It may belong to `\r\n`, whose halves can come in two pieces.
        Ok(text) => text == "\r",
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    };
    let lengths = 1..=bytes.len().min(UNFINISHED_MAX);
    lengths.rev().find(|length| is_begun(&bytes[bytes.len() - length..])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_orders_in_styled_text_only_bold_is_left() {
        let text = "\x1b[1merror:\x1b[0m '\x1b[31mx\x1b]0;title\x07' \u{9b}2J\n";
        let shown = "\x1b[1merror:\x1b[0m '\\x1b[31mx\\x1b]0;title\\x07' \\u{9b}2J\n";
        assert_eq!(escaped_but_bold(text), shown);
        assert_eq!(escaped_but_bold("plain"), "plain");
    }

    /// The input and output of each case.
    const TEXTS: [(&[u8], &str); 16] = [
        (b"", ""),
        (b"a\tb\n", "a\tb\n"),
        ("ä€🦀".as_bytes(), "ä€🦀"),
        (b"\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        (b"\0\x08\x0b\x0c\x0e\x7f", "\\x00\\x08\\x0b\\x0c\\x0e\\x7f"),
        (b"one\r\ntwo\rthree\r", "one\ntwo\\x0dthree\\x0d"),
        (b"\r\r\n", "\\x0d\n"),
        // C1 as UTF-8, and as single bytes.
        ("\u{80}\u{9b}31m\u{9f}\u{a0}".as_bytes(), "\\u{80}\\u{9b}31m\\u{9f}\u{a0}"),
        (b"\x9b31m\x90\x9d", "\\x9b31m\\x90\\x9d"),
        (b"\x84\x85", "\\x84\\x85"),
        // Forms of ESC and of C1 that are too long, which a lax decoder takes for them.
        (b"\xc0\x9b\xe0\x80\x9b\xe0\x82\x9b", "\\xc0\\x9b\\xe0\\x80\\x9b\\xe0\\x82\\x9b"),
        // A character that is cut, and one whose bytes are those of C1.
        (b"\xe2\x82", "\\xe2\\x82"),
        (b"\xe2\x82\x1b\xe2", "\\xe2\\x82\\x1b\\xe2"),
        ("Û".as_bytes(), "Û"),
        // Half a surrogate, and a number above all characters.
        (b"\xed\xa0\x9b\xf4\x90\x80\x9b", "\\xed\\xa0\\x9b\\xf4\\x90\\x80\\x9b"),
        (b"\xf0\x9f\xa6\x80\xf0\x9f\xa6", "🦀\\xf0\\x9f\\xa6"),
    ];

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        for (bytes, expected) in TEXTS {
            assert_eq!(String::from_utf8(escaped(bytes).into_owned()).unwrap(), expected);
        }
        let all: Vec<u8> =
            (0..=255).flat_map(|first| (0..=255).flat_map(move |second| [first, second])).collect();
        let shown = String::from_utf8(escaped(&all).into_owned()).unwrap();
        assert!(!shown.contains(is_obeyed));
    }

    #[test]
    fn pieces_are_shown_as_the_whole_is() {
        for (bytes, expected) in TEXTS {
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let mut escaper = Escaper::default();
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let mut shown: Vec<u8> = pieces.iter().flat_map(|piece| escaper.next(piece)).collect();
                    shown.extend(escaper.finish());
                    assert_eq!(String::from_utf8(shown).unwrap(), expected, "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn what_is_certain_is_not_held() {
        let mut escaper = Escaper::default();
        assert_eq!(escaper.next("a€".as_bytes()), "a€".as_bytes());
        assert_eq!(escaper.next(b"b\xc2"), b"b");
        assert_eq!(escaper.next(b"\x9b\r"), b"\\u{9b}");
        assert_eq!(escaper.next(b"\n"), b"\n");
        assert_eq!(escaper.finish(), b"");
    }

    #[test]
    fn json_means_the_same() {
        let json = "{\"a\u{7f}\u{9b}\": \"\u{85}é\",\r\n\r\"b\":\t1}";
        let shown = escaped_json(json);
        assert_eq!(shown, "{\"a\\u007f\\u009b\": \"\\u0085é\",\n\"b\":\t1}");
        let parse = |json| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(parse(&shown), parse(json));
    }

    #[test]
    fn styles_are_ours_and_the_text_is_not() {
        let style = Style::new().bold();
        for (is_seen, is_coloured, expected) in [
            (true, true, "\x1b[1ma\\x1b\x1b[0m"),
            (true, false, "a\\x1b"),
            (false, true, "\x1b[1ma\x1b\x1b[0m"),
            (false, false, "a\x1b"),
        ] {
            let mut painted = Painted::new(is_seen, is_coloured);
            painted.paint(style, b"a\x1b");
            assert_eq!(String::from_utf8(painted.into_bytes()).unwrap(), expected);
        }
    }
}
