//! The lines of one file: which are code, and which of them are compiled for tests alone.

/// Returns the lines that are neither blank nor comment, and how many of them are items under `#[cfg(test)]`.
pub(super) fn count(file: &str, text: &str) -> (usize, usize) {
    let is_rust = file.ends_with(".rs");
    let comments = Comments::of(file);
    let mut item = Item::None;
    let (mut all, mut tests) = (0, 0);
    let mut closed_by = None;
    for line in text.lines() {
        let is_test = is_rust && item.read(line);
        if !comments.hides(line.trim(), &mut closed_by) {
            all += 1;
            tests += usize::from(is_test);
        }
    }
    (all, tests)
}

/// Returns the names of modules in files of their own that are compiled for tests alone.
pub(super) fn test_modules(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if is_test && !line.starts_with("#[") {
            is_test = false;
            let name = line.strip_suffix(';').and_then(|line| line.split_once("mod "));
            names.extend(name.map(|(_, name)| name));
        }
        is_test |= is_for_tests(line);
    }
    names
}

fn is_for_tests(line: &str) -> bool {
    line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test")
}

/// The signs of comments of a language.
struct Comments {
    line: &'static str,
    /// What opens a longer one, and what closes it.
    blocks: &'static [(&'static str, &'static str)],
}

impl Comments {
    fn of(file: &str) -> Self {
        match file.rsplit('.').next() {
            Some("rs" | "go" | "java" | "c" | "h" | "js") => Self { line: "//", blocks: &[("/*", "*/")] },
            Some("html") => Self { line: "<!--", blocks: &[] },
            Some("csv" | "json") => Self { line: "\0", blocks: &[] },
            Some("py") => Self { line: "#", blocks: &[("\"\"\"", "\"\"\"")] },
            _ => Self { line: "#", blocks: &[] },
        }
    }

    /// Returns true if the line is blank or belongs to a comment; `closed_by` is the end of the one that is
    /// open.
    fn hides(&self, line: &str, closed_by: &mut Option<&'static str>) -> bool {
        if let Some(end) = *closed_by {
            closed_by.take_if(|_| line.ends_with(end));
            return true;
        }
        if let Some((start, end)) = self.blocks.iter().find(|(start, _)| line.starts_with(start)) {
            let is_closed = line[start.len()..].contains(end);
            *closed_by = (!is_closed).then_some(*end);
            return true;
        }
        line.is_empty() || line.starts_with(self.line)
    }
}

/// How far an item under `#[cfg(test)]` has been read; the code is as `rustfmt` leaves it.
enum Item {
    None,
    /// Its attributes stand at this depth.
    Announced(usize),
    /// It ends with a bracket at this depth.
    Open(usize),
}

impl Item {
    /// Returns true if the line belongs to such an item.
    fn read(&mut self, line: &str) -> bool {
        let depth = line.len() - line.trim_start().len();
        match *self {
            Self::None if is_for_tests(line.trim()) => *self = Self::Announced(depth),
            Self::None => return false,
            Self::Announced(_) if line.trim().starts_with("#[") || line.trim().starts_with("//") => {}
            Self::Announced(at) => *self = if ends_at_once(line) { Self::None } else { Self::Open(at) },
            Self::Open(at) => {
                if depth == at && !line.trim().is_empty() && closes(line) {
                    *self = Self::None;
                }
            }
        }
        true
    }
}

fn ends_at_once(line: &str) -> bool {
    line.ends_with([';', ',', '}'])
}

/// Returns true for the last line of an item, and false for a line such as `) -> usize {` amid it.
fn closes(line: &str) -> bool {
    ends_at_once(line) || line.trim() == ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_of_each_language_are_left_out() {
        assert_eq!(count("a.rs", "//! Doc.\n\n/* one\n two */\nfn f() {} // code\n"), (1, 0));
        assert_eq!(count("a.go", "// Doc.\npackage main\n"), (1, 0));
        assert_eq!(count("a.py", "#!/bin/python\n\"\"\"One\ntwo.\"\"\"\nimport os\n"), (1, 0));
        assert_eq!(count("a.toml", "# why\n[package]\n"), (1, 0));
        assert_eq!(count("a.csv", "# a value\n"), (1, 0));
    }

    #[test]
    fn items_for_tests_are_told_apart() {
        let text = "fn f() {}\n\
            #[cfg(test)]\n#[allow(unused)]\nfn one(\n    a: u8,\n) -> u8 {\n    a\n}\n\
            struct S {\n    #[cfg(test)]\n    seen: u8,\n    kept: u8,\n}\n\
            #[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n    }\n\n    // why\n}\n";
        assert_eq!(count("a.rs", text), (19, 15));
    }

    #[test]
    fn modules_of_tests_are_found() {
        let text = "mod a;\n#[cfg(test)]\npub(crate) mod b;\n#[cfg(test)]\nmod c {\n}\n#[cfg(test)]\n#[path = \"x\"]\nmod d;\n";
        assert_eq!(test_modules(text), ["b", "d"]);
    }
}
