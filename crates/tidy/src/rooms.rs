//! Rooms: folders that a reader can take in at a glance, and imports that name the module which defines a
//! thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;

/// The entries that a folder may have.
const ENTRIES_MAX: usize = 16;

/// The crates of the product: all others are tests, tools, or hand names on.
const PRODUCT: [&str; 12] =
    ["cli", "client", "coding", "fields", "h1", "h2", "hpack", "machine", "net", "server", "store", "tally"];

/// Folders of the product with more entries than a reader takes in at a glance.
#[must_use]
pub fn check_rooms(sources: &[Source]) -> Vec<String> {
    let mut entries: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for path in sources.iter().filter_map(|source| below_src(&source.path).map(|_| &*source.path)) {
        let (begin, within) = path.split_once("/src/").unwrap_or_default();
        let mut folder = format!("{begin}/src");
        for entry in within.split('/') {
            entries.entry(folder.clone()).or_default().insert(entry);
            folder = format!("{folder}/{entry}");
        }
    }
    let large = entries.into_iter().filter(|(_, entries)| entries.len() > ENTRIES_MAX);
    large
        .map(|(folder, entries)| format!("{folder}: {} entries, {ENTRIES_MAX} may be", entries.len()))
        .collect()
}

/// Imports of types and traits from the root of their own crate, which only hands them on.
#[must_use]
pub fn check_imports(sources: &[Source]) -> Vec<String> {
    in_product(sources).flat_map(|(source, ..)| of_root(source)).collect()
}

/// The files of code of the product without those of tests, each with its crate and its path below `src`.
pub(crate) fn in_product(sources: &[Source]) -> impl Iterator<Item = (&Source, &str, &str)> {
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    sources.iter().filter(move |source| source.path.ends_with(".rs") && !is_test(&source.path)).filter_map(
        |source| {
            let within = below_src(&source.path)?;
            let name = source.path.split('/').nth(1)?;
            Some((source, name, within))
        },
    )
}

/// The path below `src` of a file of the product.
fn below_src(path: &str) -> Option<&str> {
    let (name, within) = path.strip_prefix("crates/")?.split_once("/src/")?;
    PRODUCT.contains(&name).then_some(within)
}

fn of_root(source: &Source) -> Vec<String> {
    let code = code(&source.text);
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::").filter(|(at, _)| begins_a_path(&code[..*at])) {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(direct_names(group)),
            None => found.extend(name(rest)),
        }
    }
    found.into_iter().map(|name| format!("{}: {name} comes from the root", source.path)).collect()
}

/// Returns true unless what comes is a part of a word or of a macro's `$crate`.
fn begins_a_path(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c))
}

/// The code without comments and tests.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.split(" // ").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The name of a type or trait that stands here.
fn name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_uppercase()).then(|| text[..end].to_owned())
}

/// The names in a group that stand in no module of it.
fn direct_names(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut is_begin) = (1, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth == 1 && is_begin && !c.is_whitespace() => names.extend(name(&group[at..])),
            _ => {}
        }
        is_begin = c == ',' || (is_begin && c.is_whitespace());
        if depth == 0 {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_folder_of_seventeen_entries_is_found() {
        let files = |count: usize| -> Vec<Source> {
            (0..count).map(|n| source(&format!("crates/net/src/drive/a{n}.rs"), "")).collect()
        };
        assert!(check_rooms(&files(16)).is_empty());
        assert_eq!(check_rooms(&files(17)), ["crates/net/src/drive: 17 entries, 16 may be"]);
    }

    #[test]
    fn folders_count_once_and_tools_do_not() {
        let below = |n: usize| source(&format!("crates/net/src/drive/a/b{n}.rs"), "");
        let tools = |n: usize| source(&format!("crates/xtask/src/a{n}.rs"), "");
        let files: Vec<Source> = (0..16).map(below).chain((0..20).map(tools)).collect();
        assert!(check_rooms(&files).is_empty());
    }

    #[test]
    fn names_of_the_root_are_found() {
        for text in
            ["use crate::Error;", "use crate::{\n    a::{B, c},\n    Error,\n};", "fn a() -> crate::Error {}"]
        {
            let found = check_imports(&[source("crates/net/src/a.rs", text)]);
            assert_eq!(found, ["crates/net/src/a.rs: Error comes from the root"], "{text}");
        }
    }

    #[test]
    fn names_of_modules_documents_tests_and_macros_are_not() {
        let texts = [
            "use crate::error::Error;",
            "use crate::{a::{B, C}, d::E};",
            "/// [`Error`](crate::Error)",
            "$crate::Error",
            "#[cfg(test)]\nmod tests {\n    use crate::Error;\n}",
        ];
        for text in texts {
            assert!(check_imports(&[source("crates/net/src/a.rs", text)]).is_empty(), "{text}");
        }
    }
}
