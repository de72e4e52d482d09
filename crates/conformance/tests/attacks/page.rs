//! The page about the limits names no attack that is not played.

use alula_conformance::attack::rows;

const PLAYED: [&str; 6] = [
    include_str!("server.rs"),
    include_str!("slow.rs"),
    include_str!("memory.rs"),
    include_str!("client.rs"),
    include_str!("http1.rs"),
    include_str!("http1_client.rs"),
];

#[test]
fn every_row_is_played() {
    let rows = rows();
    assert_eq!(rows.len(), 201, "docs/limits.md: a row was added or lost: say so here");
    for row in rows {
        let name = format!("{:?}", row.attack);
        assert!(PLAYED.iter().any(|source| source.contains(&name)), "docs/limits.md: nothing plays {name}");
    }
}

#[test]
fn every_limit_is_one() {
    let limits = format!("{:?}", alula::Limits::default());
    for row in rows() {
        let Some(limit) = row.limit else { continue };
        assert!(limits.contains(&format!("{limit}: ")), "docs/limits.md: Limits has no {limit}");
    }
}
