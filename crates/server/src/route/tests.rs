//! Tables of cases for each rule. `crates/trials` compares the search with a naive one on any patterns and
//! paths.

mod errors;
mod hostile;
mod nesting;
mod rules;

use super::{Outcome, RouteEntry, SlashChange, Table, segments::Segments};

/// Builds a table of these patterns, whose values are the patterns themselves.
fn table(options: Segments, patterns: &[&'static str]) -> Table<&'static str> {
    let mut builder = Table::builder(options);
    for pattern in patterns {
        builder.insert(pattern, *pattern).unwrap_or_else(|error| panic!("{error}"));
    }
    builder.build()
}

/// Returns the outcome of a search in words: the pattern and its captures, `name=bytes` each.
fn found(table: &Table<&'static str>, path: &str) -> String {
    let (mark, found) = match table.find(path.as_bytes()) {
        Outcome::Found(found) => ("", found),
        Outcome::Redirect(SlashChange::Added, found) => ("+/ ", found),
        Outcome::Redirect(SlashChange::Removed, found) => ("-/ ", found),
        Outcome::Refused(refused, _) => return format!("{refused:?}"),
        Outcome::Unknown => return "-".to_owned(),
    };
    let is_found = |place: &RouteEntry<'_, _>| std::ptr::eq(place.value, found.value);
    let place = table.places().find(is_found).expect("a pattern of the table");
    assert_eq!(place.names.len(), found.captures.len(), "{path}");
    let mut words = format!("{mark}{}", place.pattern);
    for (number, name) in place.names.iter().enumerate() {
        let span = found.captures.span(number).expect("as many spans as names");
        words += &format!(" {name}={}", &path[span]);
    }
    words
}

/// Compares what paths come to with what is written beside them.
fn check(options: Segments, patterns: &[&'static str], cases: &[(&str, &str)]) {
    let table = table(options, patterns);
    for (path, expected) in cases {
        assert_eq!(found(&table, path), *expected, "{path} under {options:?}");
    }
}
