//! Fields of objects: what a request stores is read again as it was kept, and its links come back from the field that shows them.

use alula_fields::FieldSection;
use alula_store::fuzzing::{attributes, link_field};
use alula_store::model::{Attribute, Attributes};

const BUCKET: &[u8] = b"b";

/// A line for each field, its name before the first colon.
pub fn object_fields(data: &[u8]) {
    let mut headers = FieldSection::new();
    for line in data.split(|octet| *octet == b'\n') {
        let mut parts = line.splitn(2, |octet| *octet == b':');
        let name = std::str::from_utf8(parts.next().unwrap_or_default()).unwrap_or_default();
        let _ = headers.append(name, parts.next().unwrap_or_default());
    }
    let Some(kept) = attributes(&headers, BUCKET) else { return };
    let all: Result<Vec<_>, _> = Attributes::new(&kept).collect();
    let all = all.expect("what was kept is read");
    let is_entry = |attribute: &&Attribute<'_>| {
        matches!(attribute, Attribute::BinaryEntry { .. } | Attribute::IntegerEntry { .. })
    };
    for (place, entry) in all.iter().enumerate().filter(|(_, attribute)| is_entry(attribute)) {
        assert!(!all[..place].contains(entry), "an entry is kept once");
    }
    links_come_back(&kept, &all);
}

fn links_come_back(kept: &[u8], all: &[Attribute<'_>]) {
    let field = link_field(kept, BUCKET);
    let headers = FieldSection::from_pairs([("content-type", &b"a/b"[..]), ("link", &field)]);
    let again =
        attributes(&headers.expect("what is shown is a field"), BUCKET).expect("what is shown is stored");
    let links = |attribute: &&Attribute<'_>| matches!(attribute, Attribute::Link { .. });
    let again: Vec<_> = Attributes::new(&again).flatten().collect();
    assert!(again.iter().filter(links).eq(all.iter().filter(links)));
}
