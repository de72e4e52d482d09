//! Conditions and ranges: a selection keeps within the representation, and follows from what the field names.

use alula_fields::FieldSection;
use alula_server::conditional::{RANGES_MAX, Selection, Validators, select};

const NAMES: [&str; 6] =
    ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
const LENGTHS: [u64; 4] = [0, 1, 1_000, u64::MAX];

/// The first byte chooses the field and the length, the others are its value.
pub fn conditional(data: &[u8]) {
    let Some((choice, value)) = data.split_first() else { return };
    let choice = usize::from(*choice);
    let (name, length) = (NAMES[choice % 6], LENGTHS[choice / 6 % 4]);
    let mut fields = FieldSection::new();
    if fields.append(name, value).is_err() {
        return;
    }
    if name == "if-range" {
        let _ = fields.append("range", "bytes=0-0");
    }
    let now = Validators::present().etag("\"a\"");
    let selection = select("GET", &fields, &now, length);
    match name {
        "range" => is_within(&selection, length),
        "if-range" if value == b"\"a\"" => assert_ne!(selection, Selection::Whole, "{length}"),
        "if-match" | "if-none-match" => names_tag(&selection, value, name == "if-match"),
        // There is no date to compare with, and other entity-tags are none of this state.
        _ => assert_eq!(selection, Selection::Whole, "{name}: {value:?}"),
    }
}

/// Parts are not empty, end within the whole, and are fewer bytes than it.
fn is_within(selection: &Selection, length: u64) {
    let parts = match selection {
        Selection::Whole | Selection::RangeNotSatisfiable => return,
        Selection::Part(part) => std::slice::from_ref(part),
        Selection::Parts(parts) => {
            assert!((2..=RANGES_MAX).contains(&parts.len()));
            let bytes: u128 = parts.iter().map(|part| u128::from(part.end) - u128::from(part.start)).sum();
            assert!(bytes < u128::from(length), "{parts:?} of {length}");
            parts
        }
        other => panic!("{other:?} without a condition"),
    };
    assert!(parts.iter().all(|part| part.start < part.end && part.end <= length), "{parts:?} of {length}");
}

/// A condition that holds or not by the tag names it somewhere, or is a star.
fn names_tag(selection: &Selection, value: &[u8], is_match: bool) {
    let is_named = match selection {
        Selection::Whole => is_match,
        Selection::NotModified => true,
        Selection::PreconditionFailed => false,
        other => panic!("{other:?} without a range"),
    };
    let holds_tag = value == b"*" || value.windows(3).any(|three| three == b"\"a\"");
    assert!(!is_named || holds_tag, "{value:?}");
    if value == b"*" || value == b"\"a\"" {
        assert!(is_named, "{value:?}");
    }
}
