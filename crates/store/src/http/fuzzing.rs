//! The readers of index queries and the writer of names in JSON, laid open for the fuzz targets in
//! `crates/trials`. This is no API: it may change with any version.

use super::index::continuation::Continuation;
use super::index::parameters::Parameters;
use super::index::range::Range;
use super::list::json;
use super::{checks::query, walk};
use crate::engine::Item;

/// A query of an index that was not refused.
#[derive(Debug)]
pub struct IndexQuery(Range, Parameters);

impl IndexQuery {
    /// Reads the decoded parts of a path, and the query behind it as it was written.
    pub fn read(field: &[u8], low: &[u8], high: Option<&[u8]>, query: &[u8]) -> Option<Self> {
        let range = Range::read(field, low, high).ok()?;
        let parameters = Parameters::read(query::pairs_of(query)).ok()?;
        parameters.check(&range).ok()?;
        Some(Self(range, parameters))
    }

    /// Returns the most results.
    pub fn results_max(&self) -> Option<u64> {
        self.1.results_max()
    }

    /// Returns true if an entry of this term, in the form in which engines order terms, is in the range and
    /// found by the pattern.
    pub fn takes(&self, term: &[u8], key: &[u8]) -> bool {
        let item = Item { term, key };
        self.0.contains(item) && self.1.takes(self.0.searched(item))
    }

    /// Returns the term as clients write it.
    pub fn shown(&self, term: &[u8]) -> Vec<u8> {
        self.0.shown(Item { term, key: b"" }, &mut Vec::new()).to_vec()
    }
}

/// Returns the number of the steps of a walk, or `None` if the path behind the key is refused.
pub fn walk_steps(path: &[u8]) -> Option<usize> {
    walk::steps_of(path)
}

/// Returns the term and the key of a continuation.
pub fn continuation(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let continuation = Continuation::read(text)?;
    let Item { term, key } = continuation.item();
    Some((term.to_vec(), key.to_vec()))
}

/// Returns the text of a continuation.
pub fn continuation_text(term: &[u8], key: &[u8]) -> String {
    Continuation::text(Item { term, key })
}

/// Writes a string of JSON that stands for these bytes.
pub fn json_string(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    json::put_string(bytes, &mut out);
    out
}
