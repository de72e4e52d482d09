//! `docs/interop.md` is what the matrix says. (`client` and `server` hold the matrix against what is checked.)

use alula_conformance::interop::{page, page_row};

#[test]
fn the_page_is_written_from_the_matrix() {
    let page = std::fs::read_to_string(page_row::file()).expect("docs/interop.md can be read");
    assert!(page == page::text(), "docs/interop.md is stale: `cargo xtask interop --write`");
}
