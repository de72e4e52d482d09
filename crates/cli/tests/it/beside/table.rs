//! The table of rows: a line each, `flag | words | code | same`, or `differs in PART[, PART]: why` at the
//! end.

/// A line of the table.
pub(crate) struct Row {
    pub(crate) line: usize,
    /// The words behind the name of the program.
    pub(crate) words: String,
    /// The exit code of both.
    pub(crate) code: i32,
    /// The parts of the outcome in which the programs differ, and why.
    pub(crate) differs: Vec<&'static str>,
    pub(crate) why: String,
}

pub(crate) fn rows(text: &'static str) -> Vec<Row> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(at, line)| row(at, line))
        .collect()
}

fn row(line: usize, text: &'static str) -> Row {
    // A bar in the words is written `\|`.
    let cells: Vec<&str> = text.split(" | ").map(str::trim).collect();
    let [_, words, code, verdict] = cells[..] else {
        panic!("line {line} has {} cells: {text}", cells.len())
    };
    let (differs, why) = match verdict.strip_prefix("differs in ") {
        None => {
            assert_eq!(verdict, "same", "line {line}");
            (Vec::new(), String::new())
        }
        Some(verdict) => {
            let (parts, why) = verdict.split_once(": ").unwrap_or_else(|| panic!("line {line}: {verdict}"));
            (parts.split(", ").collect(), why.to_owned())
        }
    };
    let code = code.parse().unwrap_or_else(|_| panic!("line {line}: {code}"));
    Row { line, words: words.to_owned(), code, differs, why }
}

impl Row {
    /// The words as a shell would take them apart, with the server's place in them.
    pub(crate) fn arguments(&self, port: u16, closed: u16) -> Vec<String> {
        let words = self.words.replace("{url}", &format!("http://127.0.0.1:{port}"));
        let words = words.replace("{port}", &port.to_string()).replace("{closed}", &closed.to_string());
        split(&words)
    }
}

/// Takes a line apart at its spaces, except within single quotes.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut is_begun) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (is_quoted, is_begun) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            c => {
                word.push(c);
                is_begun = true;
            }
        }
    }
    if is_begun {
        words.push(word);
    }
    words
}
