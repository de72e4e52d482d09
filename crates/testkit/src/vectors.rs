//! Vectors: test data in plain text files under `testdata/`, shared by every crate that can run them.
//!
//! ```text
//! # A comment. Settings of the whole file come first.
//! table_bytes_max = 4096
//!
//! [C.4.1]
//! wire = 8286 8441 8cf1 e3c2
//!     e5f2 3a6b a0ab 90f4 ff
//! field = :method: GET
//! field = :scheme: http
//! ```
//!
//! A line in brackets begins a case. `key = value` belongs to it, in order, and a key may come again. An
//! indented line goes on with the value before, after a line end. White space around keys and values does not
//! count. A comment has its own line.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A file of vectors: settings that hold for all of it, and cases.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// What stands before the first case.
    pub settings: Case,
    /// The cases in order.
    pub cases: Vec<Case>,
}

/// One case: a name, and keys with values in order.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// What stands in the brackets.
    pub name: String,
    /// The line the case begins at, counted from one.
    pub line: usize,
    entries: Vec<(String, String)>,
}

/// The path of a file under `testdata/` of the workspace.
pub fn testdata(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file)
}

impl Vectors {
    /// Reads a file under `testdata/`.
    ///
    /// # Panics
    /// When it is not there or not in the format; the message has the file and the line.
    pub fn load(file: &str) -> Self {
        let path = testdata(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(file, &text)
    }

    /// Reads text in the format; the name is for messages.
    ///
    /// # Panics
    /// When a line is neither empty, a comment, a case, a key with a value nor the continuation of one.
    pub fn parse(file: &str, text: &str) -> Self {
        let mut cases = vec![Case { line: 1, ..Case::default() }];
        for (index, line) in text.lines().enumerate() {
            read_line(line, index + 1, &mut cases)
                .unwrap_or_else(|| panic!("{file}:{}: {line:?}", index + 1));
        }
        let settings = cases.remove(0);
        Self { settings, cases }
    }
}

impl Case {
    /// The first value of the key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }

    /// Every value of the key, in order.
    pub fn all<'c, 'k>(&'c self, key: &'k str) -> impl Iterator<Item = &'c str> + use<'c, 'k> {
        self.entries.iter().filter(move |(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// Every key with its value, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The first value of a key that must be there.
    ///
    /// # Panics
    /// When it is not; the message has case and key. So below.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_else(|| panic!("case {:?}, line {}: no {key}", self.name, self.line))
    }

    /// The first value of the key as bytes in hexadecimal.
    ///
    /// # Panics
    /// When it is not there or not hexadecimal.
    pub fn hex(&self, key: &str) -> Vec<u8> {
        crate::hex::parse(self.text(key))
    }

    /// The first value of the key as a number, or whatever else can be parsed.
    ///
    /// # Panics
    /// When it is not there or cannot be.
    pub fn number<T: FromStr>(&self, key: &str) -> T {
        let text = self.text(key);
        text.parse().unwrap_or_else(|_| panic!("case {:?}, line {}: {key} = {text}", self.name, self.line))
    }
}

/// `None` when the line is not in the format.
fn read_line(line: &str, number: usize, cases: &mut Vec<Case>) -> Option<()> {
    let text = line.trim();
    if text.is_empty() || text.starts_with('#') {
        return Some(());
    }
    let last = cases.last_mut()?;
    if line.starts_with([' ', '\t']) {
        let (_, value) = last.entries.last_mut()?;
        value.push('\n');
        value.push_str(text);
    } else if let Some(name) = text.strip_prefix('[') {
        let name = name.strip_suffix(']')?.to_owned();
        cases.push(Case { name, line: number, entries: Vec::new() });
    } else {
        let (key, value) = text.split_once('=')?;
        last.entries.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# a file\nmax = 4096\n\n[C.4.1]\nwire = 82 86\n  84\nfield = a: 1\nfield = b: = 2\n[empty]\n";

    #[test]
    fn settings_and_cases_are_read() {
        let vectors = Vectors::parse("text", TEXT);
        assert_eq!(vectors.settings.number::<u32>("max"), 4096);
        let [case, empty] = &vectors.cases[..] else { panic!("two cases") };
        assert_eq!((case.name.as_str(), case.line), ("C.4.1", 4));
        assert_eq!(case.hex("wire"), [0x82, 0x86, 0x84]);
        assert_eq!(case.all("field").collect::<Vec<_>>(), ["a: 1", "b: = 2"]);
        assert_eq!((case.entries().count(), case.get("none")), (3, None));
        assert_eq!((empty.name.as_str(), empty.entries().count()), ("empty", 0));
    }

    #[test]
    #[should_panic(expected = "text:2: \"no value\"")]
    fn a_mistake_is_named_by_its_line() {
        Vectors::parse("text", "# a file\nno value");
    }

    #[test]
    #[should_panic(expected = "case \"a\", line 1: no wire")]
    fn a_missing_key_is_named() {
        Vectors::parse("text", "[a]").cases[0].text("wire");
    }

    #[test]
    fn testdata_is_in_the_workspace() {
        assert!(testdata("").join("../Cargo.toml").exists());
    }
}
