//! Fields of objects: what a request stores is read again as it was kept, and its links come back from the
//! field that shows them.

use alula_fields::FieldSection;
use alula_store::fuzzing::{attributes, link_field};
use alula_store::model::{Attribute, Attributes};

use crate::memory::bounded;

const BUCKET: &[u8] = b"b";
/// The rows of an index take 256 KiB at most, and a buffer that grows is held twice.
const FOR_ANY: u64 = 1024 * 1024;

/// A line for each field, its name before the first colon.
pub fn object_fields(data: &[u8]) {
    let mut headers = FieldSection::new();
    for line in data.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = std::str::from_utf8(parts.next().unwrap_or_default()).unwrap_or_default();
        let _ = headers.append(name, parts.next().unwrap_or_default());
    }
    let kept = bounded(data.len(), FOR_ANY, || attributes(&headers, BUCKET));
    let Some(kept) = kept else { return };
    let all: Result<Vec<_>, _> = Attributes::new(&kept).collect();
    let all = all.expect("what was kept is read");
    let is_entry = |attribute: &&Attribute<'_>| {
        matches!(attribute, Attribute::BinaryEntry { .. } | Attribute::IntegerEntry { .. })
    };
    let mut entries: Vec<_> = all.iter().filter(is_entry).map(|entry| format!("{entry:?}")).collect();
    entries.sort_unstable();
    assert!(entries.is_sorted_by(|one, next| one < next), "an entry is kept once");
    links_come_back(&kept, &all);
}

fn links_come_back(kept: &[u8], all: &[Attribute<'_>]) {
    let field = bounded(kept.len(), 1024, || link_field(kept, BUCKET));
    let headers = FieldSection::from_pairs([("content-type", &b"a/b"[..]), ("link", &field)]);
    let again =
        attributes(&headers.expect("what is shown is a field"), BUCKET).expect("what is shown is stored");
    let links = |attribute: &&Attribute<'_>| matches!(attribute, Attribute::Link { .. });
    let again: Vec<_> = Attributes::new(&again).flatten().collect();
    assert!(again.iter().filter(links).eq(all.iter().filter(links)));
}
