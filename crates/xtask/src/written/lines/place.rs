//! Where code lies says what it is for.

use std::collections::BTreeSet;

/// The use of a line of code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Product,
    Test,
    Tool,
}

impl Kind {
    pub(super) const COUNT: usize = 3;
}

/// The row and the column that a file counts in.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) row: String,
    pub(super) kind: Kind,
}

/// Crates that no test needs: they measure, check or build.
const TOOLS: [&str; 4] = ["bench", "disk-recorder", "tidy", "xtask"];

/// Crates of the product that are called otherwise than `alula-` and the name of their folder, or not
/// published as crates.
const PROGRAMS: [&str; 2] = ["alula", "cli"];

const ENDINGS: [&str; 13] =
    ["rs", "go", "py", "java", "c", "h", "js", "html", "toml", "txt", "csv", "json", "sh"];

/// Folders and files that a program has written.
const GENERATED: [&str; 4] = ["corpus", "figures", "target", "suffixes.txt"];

/// Returns the place of a file, or `None` for texts for people and for what is generated.
pub(super) fn of(file: &str, published: &BTreeSet<String>) -> Option<Place> {
    let parts: Vec<&str> = file.split('/').collect();
    let is_generated = parts.iter().any(|part| GENERATED.contains(part));
    let has_ending = file.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending));
    if is_generated || !(has_ending || file == ".ci/run") {
        return None;
    }
    let (row, kind) = match *parts {
        ["crates", name, folder, ..] => (name, in_crate(name, folder, published)),
        ["docs", ..] => return None,
        ["testdata", ..] => ("testdata", Kind::Test),
        ["fuzz", ..] => ("fuzz", Kind::Test),
        [folder @ "bench-peers", ..] => (folder, Kind::Tool),
        _ => ("root", Kind::Tool),
    };
    Some(Place { row: row.to_owned(), kind })
}

fn in_crate(name: &str, folder: &str, published: &BTreeSet<String>) -> Kind {
    match folder {
        "tests" | "benches" => Kind::Test,
        _ if TOOLS.contains(&name) => Kind::Tool,
        _ if !PROGRAMS.contains(&name) && !published.contains(&format!("alula-{name}")) => Kind::Test,
        "examples" => Kind::Tool,
        _ => Kind::Product,
    }
}

/// Returns the folder in which the modules lie that a file declares.
pub(super) fn folder_of_modules(file: &str) -> &str {
    let stem = file.trim_end_matches(".rs");
    match stem.rsplit_once('/') {
        Some((folder, "mod" | "lib" | "main")) => folder,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_by_where_it_lies() {
        let published = ["alula-net".to_owned()].into();
        let kind = |file| of(file, &published).map(|place| place.kind);
        assert_eq!(kind("crates/net/src/conn.rs"), Some(Kind::Product));
        assert_eq!(kind("crates/alula/src/lib.rs"), Some(Kind::Product));
        assert_eq!(kind("crates/net/examples/pipe.rs"), Some(Kind::Tool));
        assert_eq!(kind("crates/testkit/src/lib.rs"), Some(Kind::Test));
        assert_eq!(kind("crates/xtask/src/main.rs"), Some(Kind::Tool));
        assert_eq!(kind("crates/xtask/tests/it/main.rs"), Some(Kind::Test));
        assert_eq!(kind("crates/bench/figures/peers.txt"), None);
        assert_eq!(kind("docs/limits.md"), None);
    }

    #[test]
    fn modules_lie_beside_the_file_or_in_its_folder() {
        assert_eq!(folder_of_modules("crates/net/src/lib.rs"), "crates/net/src");
        assert_eq!(folder_of_modules("crates/net/src/conn.rs"), "crates/net/src/conn");
        assert_eq!(folder_of_modules("crates/net/src/conn/mod.rs"), "crates/net/src/conn");
    }
}
