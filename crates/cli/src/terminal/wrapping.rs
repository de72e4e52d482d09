//! Wrapping of text at words, for narrow terminals.

/// Wraps lines that are too long at spaces; continuation lines begin with `indent`. A word that is longer
/// than a line stays whole. Styles (`ESC [ … m`) take no columns, and any other character takes one.
pub(crate) fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        match width(line.trim_end_matches('\n')) <= columns {
            true => out.push_str(line),
            false => push_wrapped(&mut out, line, columns, indent),
        }
    }
    out
}

fn push_wrapped(out: &mut String, line: &str, columns: usize, indent: &str) {
    let mut used = 0;
    for (number, word) in line.split(' ').enumerate() {
        let more = width(word.trim_end_matches('\n'));
        if number == 0 {
            used = more;
        } else if used + 1 + more > columns && !word.is_empty() {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(indent);
            used = indent.len() + more;
        } else {
            out.push(' ');
            used += 1 + more;
        }
        out.push_str(word);
    }
}

/// Returns the columns that a text takes.
fn width(text: &str) -> usize {
    let mut is_style = false;
    let takes_one = |character: &char| {
        let was_style = is_style;
        is_style = if is_style { *character != 'm' } else { *character == '\x1b' };
        !was_style && !is_style
    };
    text.chars().filter(takes_one).count()
}

/// Moves the text behind a wide gap to a line of its own: `  command      what it does`.
pub(crate) fn stacked(text: &str) -> String {
    const GAP: &str = "  ";
    let line = |line: &str| match line.trim_start().split_once(GAP) {
        Some((term, about)) => format!("  {term}\n      {}", about.trim_start()),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_words() {
        for (text, columns, expected) in [
            ("", 10, ""),
            ("a b c\n", 5, "a b c\n"),
            ("one two three\nfour\n", 8, "one two\n  three\nfour\n"),
            ("one two three four", 7, "one two\n  three\n  four"),
            ("a-word-that-is-long and more", 8, "a-word-that-is-long\n  and\n  more"),
            ("a   b   c", 6, "a   b\n  c"),
            ("  a b c d", 7, "  a b c\n  d"),
            ("\u{e9}\u{e9} \u{e9}\u{e9}", 5, "\u{e9}\u{e9} \u{e9}\u{e9}"),
            ("\x1b[1merror:\x1b[0m none", 11, "\x1b[1merror:\x1b[0m none"),
        ] {
            assert_eq!(wrapped(text, columns, "  "), expected, "{text:?}");
        }
    }

    #[test]
    fn the_words_stay_what_they_were() {
        let text = "alula: GET https://a.example/x: could not connect: connection refused";
        for columns in 1..80 {
            let broken = wrapped(text, columns, "  ");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&broken), words(text));
            assert!(broken.lines().all(|line| line.len() <= columns || line.trim().split(' ').count() == 1));
        }
    }

    #[test]
    fn a_table_becomes_a_list() {
        let table = "Examples:\n  alula demo      what it costs\n  alula get a b\n      --more";
        assert_eq!(
            stacked(table),
            "Examples:\n  alula demo\n      what it costs\n  alula get a b\n      --more"
        );
    }
}
