//! The row of a peer on the page `docs/interop.md`, and the place of that page.

use std::path::PathBuf;

use super::way::Way;

/// The path of the page.
#[must_use]
pub fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/interop.md"))
}

/// Holds what was checked with a peer against the page as it lies there.
///
/// # Panics
/// When the page has no such line.
pub(super) fn assert_shows(peer: &str, checked: &[Vec<Way>]) {
    let page = std::fs::read_to_string(file()).expect("docs/interop.md can be read");
    let row = row(peer, checked);
    assert!(
        page.lines().any(|line| line == row),
        "docs/interop.md does not have this line; `cargo xtask interop --write` writes it:\n{row}"
    );
}

/// The row of a peer, with one cell for each check.
pub(super) fn row(peer: &str, checked: &[Vec<Way>]) -> String {
    let cells: Vec<&str> = checked.iter().map(|ways| word(ways)).collect();
    format!("| {peer} | {} |", cells.join(" | "))
}

fn word(ways: &[Way]) -> &'static str {
    match ways {
        [] => "-",
        [Way::Clear] => "clear text",
        [Way::Tls] => "TLS",
        _ => "yes",
    }
}
