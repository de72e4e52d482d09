//! Every row of the table of attacks on what clients do by themselves, over real sockets; `docs/limits.md`
//! has the same rows.
//!
//! Each is played over HTTP/1.1 and HTTP/2, unless it is about one of them. Where what bounds it can be set,
//! it is played again with that lifted, and must not end so then. With `--nocapture --test-threads 1` the
//! tests print the table.

mod contents;
mod cookies;
mod proxies;
mod redirects;
mod retries;
mod site;

use alula_conformance::attack::rows_by_itself;

const PLAYED: [&str; 5] = [
    include_str!("contents.rs"),
    include_str!("cookies.rs"),
    include_str!("proxies.rs"),
    include_str!("redirects.rs"),
    include_str!("retries.rs"),
];

#[test]
fn every_row_is_played() {
    let rows = rows_by_itself();
    assert_eq!(rows.len(), 34, "docs/limits.md: a row was added or lost: say so here");
    for row in rows {
        let name = format!("{:?}", row.attack);
        assert!(PLAYED.iter().any(|source| source.contains(&name)), "docs/limits.md: nothing plays {name}");
    }
}
