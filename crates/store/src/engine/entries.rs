//! The entries of indexes that a record stands for, and what a write changes of them.

use std::collections::BTreeSet;

use crate::model::{Record, term};

/// Index and term, as an engine keeps them: a field never has an octet of 0, which therefore ends it.
type Entry = (Vec<u8>, Vec<u8>);

/// The entries of a record: those of all contents that do not say that the object was deleted, each once.
pub(super) fn of(record: Option<Record<'_>>) -> BTreeSet<Entry> {
    let contents = record.into_iter().flat_map(|record| record.contents());
    let attributes = contents
        .filter(|content| !content.is_deleted())
        .flat_map(|content| content.attributes())
        .map_while(Result::ok);
    let mut entries = BTreeSet::new();
    for attribute in attributes {
        let mut octets = Vec::new();
        if let Some(field) = term::of(attribute, &mut octets) {
            entries.insert((field.to_vec(), octets));
        }
    }
    entries
}
