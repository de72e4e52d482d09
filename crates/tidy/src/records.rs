//! Records of the product with more fields than a reader takes in: they are made of parts.

use syn::{Fields, Item};

use crate::{Source, rooms::in_product};

/// The fields that a record may have.
const FIELDS_MAX: usize = 15;

/// Tables of flags and of limits, which users read from top to bottom.
const TABLES: [&str; 2] = ["Args", "Limits"];

/// Records that have more, by their crate. The list may only become shorter.
const LARGE: [(&str, &str); 5] =
    [("h1", "Connection"), ("h2", "Connection"), ("h2", "Stream"), ("net", "Connection"), ("net", "Slot")];

/// Records with more fields than may be, and those that are listed and have fewer by now.
#[must_use]
pub fn check_records(sources: &[Source]) -> Vec<String> {
    let files = in_product(sources)
        .filter_map(|(source, name, _)| Some((source, name, syn::parse_file(&source.text).ok()?)));
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    for (source, name, file) in files {
        for (record, fields) in file.items.iter().filter_map(large) {
            match LARGE.iter().find(|large| **large == (name, &*record)) {
                Some(large) => listed.push(large),
                None => {
                    found.push(format!("{}: {record} has {fields} fields, {FIELDS_MAX} may be", source.path))
                }
            }
        }
    }
    let small = LARGE.iter().filter(|large| !listed.contains(large));
    found.extend(small.map(|(name, record)| format!("crates/{name}: take {record} off the list")));
    found
}

/// The name and the number of fields of a record that has too many.
fn large(item: &Item) -> Option<(String, usize)> {
    let Item::Struct(item) = item else { return None };
    let Fields::Named(fields) = &item.fields else { return None };
    let (name, count) = (item.ident.to_string(), fields.named.len());
    let is_table = TABLES.iter().any(|table| name.ends_with(table));
    (count > FIELDS_MAX && !is_table).then_some((name, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, name: &str, fields: usize) -> bool {
        let fields: String = (0..fields).map(|n| format!("a{n}: u8,")).collect();
        let source = Source { path: path.to_owned(), text: format!("struct {name} {{ {fields} }}") };
        check_records(&[source]).iter().any(|line| line.contains("fields"))
    }

    #[test]
    fn a_record_of_sixteen_fields_is_found() {
        assert!(found("crates/net/src/a.rs", "Record", 16));
        assert!(!found("crates/net/src/a.rs", "Record", 15));
        assert!(!found("crates/bench/src/a.rs", "Record", 16), "a tool");
        assert!(!found("crates/net/src/a.rs", "SomeLimits", 16), "a table");
        assert!(!found("crates/net/src/a.rs", "Slot", 16), "it is listed");
        assert!(found("crates/client/src/a.rs", "Slot", 16), "it is listed for another crate");
    }

    #[test]
    fn a_listed_record_that_has_become_small_is_found() {
        let (name, record) = LARGE[0];
        assert!(check_records(&[]).contains(&format!("crates/{name}: take {record} off the list")));
    }
}
