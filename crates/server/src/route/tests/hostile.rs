//! Patterns that branch everywhere, and paths that follow every branch.

use super::found;
use crate::route::{Segments, Table};

/// Builds the table of all patterns of `depth` segments, each `a` or a capture, and an end that no path below
/// has.
fn every_choice(depth: usize) -> Table<&'static str> {
    let mut builder = Table::builder(Segments::OBJECT_KEYS);
    for choice in 0..1_u32 << depth {
        let part = |at: usize| if choice >> at & 1 == 0 { "/a".into() } else { format!("/{{x{at}}}") };
        let pattern: String = (0..depth).map(part).collect();
        builder.insert(&format!("{pattern}/end"), "").expect("at most eight captures");
    }
    builder.build()
}

/// A search visits each node once: a path that fits up to its last segment costs as much as the trie has
/// nodes, 511 here, and no more with more bytes after it.
#[test]
fn a_path_that_follows_every_branch_ends() {
    let table = every_choice(8);
    let path = "/a".repeat(8);
    assert_eq!(found(&table, &format!("{path}/other")), "-");
    assert_eq!(found(&table, &format!("{path}/end/more")), "-");
    assert!(found(&table, &format!("{path}/end")).starts_with("/a/a/a/a/a/a/a/a/end"));
    let long = format!("{path}/{}", "x".repeat(1 << 16));
    assert_eq!(found(&table, &long), "-");
}

/// The deepest patterns with a choice at every segment: the search goes 64 deep at most.
#[test]
fn the_deepest_patterns() {
    let mut builder = Table::builder(Segments::OBJECT_KEYS);
    for depth in 0..63 {
        let literals = "/a".repeat(depth);
        builder.insert(&format!("{literals}/{{x}}/b"), "").expect("a pattern");
    }
    builder.insert(&"/a".repeat(64), "").expect("64 segments");
    let table = builder.build();
    assert_eq!(found(&table, &"/a".repeat(64)), "/a".repeat(64));
    assert_eq!(found(&table, &"/a".repeat(10_000)), "-");
    assert_eq!(
        found(&table, &format!("{}/c/b", "/a".repeat(40))),
        format!("{}/{{x}}/b x=c", "/a".repeat(40))
    );
}

#[test]
fn paths_of_slashes_and_bytes_of_all_kinds() {
    for options in [Segments::STRICT, Segments::FILES, Segments::OBJECT_KEYS] {
        let mut builder = Table::builder(options);
        for pattern in ["/{a}", "/{a}/{b}", "/x/{*rest}", "/12345678", "/123456789"] {
            builder.insert(pattern, pattern).expect("a pattern");
        }
        let table = builder.build();
        for byte in 0..=u8::MAX {
            for len in 0..40 {
                let path = [&b"/"[..], &vec![byte; len]].concat();
                table.find(&path);
                table.find(&[&path[..], b"/", &path[..]].concat());
            }
        }
        table.find(&vec![b'/'; 1 << 20]);
    }
}
