//! The lists of the workloads, as fields.
#![allow(dead_code, unreachable_pub)]

use alula_hpack::{Field, Indexing};
pub use alula_testkit::lists::{BROWSER, LOCALHOST, PATH, PUSH, Pair, REQUEST_ID, VISITS, visit};

/// Fields with one treatment for all.
pub fn fields(pairs: &[Pair], indexing: Indexing) -> Vec<Field<'static>> {
    pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()).with(indexing)).collect()
}

/// A browser's request for the front page: the same every time.
pub fn front_page() -> Vec<Field<'static>> {
    let mut fields = fields(&BROWSER, Indexing::Auto);
    fields[PATH].value = b"/";
    fields
}

/// Paths and request ids that are new each time.
pub fn visits() -> Vec<[String; 2]> {
    (0..VISITS).map(visit).collect()
}

/// A browser's requests, each with its own path and id.
pub fn browsing(visits: &[[String; 2]]) -> Vec<Vec<Field<'_>>> {
    visits
        .iter()
        .map(|[path, id]| {
            let mut fields: Vec<Field<'_>> = fields(&BROWSER, Indexing::Auto);
            fields[PATH].value = path.as_bytes();
            fields[REQUEST_ID].value = id.as_bytes();
            fields
        })
        .collect()
}
