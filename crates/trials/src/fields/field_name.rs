//! Names of fields, against the definition of a token and a walk through the table.

use alula_fields::{FieldErrorKind, FieldSection, KnownName, bytes};
use alula_hpack::Class;

/// The bytes as the name of a field.
pub fn field_name(data: &[u8]) {
    let is_token = !data.is_empty() && data.iter().copied().all(is_tchar);
    let is_lower = is_token && !data.iter().any(u8::is_ascii_uppercase);
    assert_eq!((bytes::is_token(data), bytes::is_lower_token(data)), (is_token, is_lower));
    assert_eq!(Class::of(data, b"").name_ok(), is_lower);
    known(data);
    if let Ok(text) = std::str::from_utf8(data) {
        stored(text, is_token);
    }
}

/// RFC 9110 §5.6.2.
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn known(data: &[u8]) {
    let exact = KnownName::all().find(|name| name.as_str().as_bytes() == data);
    let folded = KnownName::all().find(|name| name.as_str().as_bytes().eq_ignore_ascii_case(data));
    assert_eq!((KnownName::lookup(data), KnownName::lookup_folded(data)), (exact, folded));
    if let Some(name) = folded {
        assert_eq!(KnownName::from_id(name.id()), Some(name));
        assert!(name.canonical().eq_ignore_ascii_case(name.as_str()));
    }
}

fn stored(text: &str, is_token: bool) {
    let (mut section, mut spelled) = (FieldSection::new(), FieldSection::new());
    let result = section.append(text, "value");
    assert_eq!(result.is_ok(), is_token);
    assert_eq!(spelled.append_spelled(text, "value"), result);
    assert_eq!(section, spelled);
    let Err(error) = result else { return found(text, &section, &spelled) };
    assert!(section.is_empty() && !error.to_string().is_empty());
    if let (FieldErrorKind::Name, Some(at)) = (error.kind(), error.position()) {
        assert_eq!(text.bytes().position(|byte| !is_tchar(byte)), Some(at));
    }
}

fn found(text: &str, section: &FieldSection, spelled: &FieldSection) {
    let (lower, upper) = (text.to_ascii_lowercase(), text.to_ascii_uppercase());
    for name in [text, &lower, &upper] {
        assert_eq!(section.get(name), Some(&b"value"[..]));
        assert_eq!(section.get_loose(name), Some(&b"value"[..]));
    }
    let (field, own) = (section.at(0).expect("one field"), spelled.at(0).expect("one field"));
    assert_eq!((field.name().as_str(), own.spelling()), (&*lower, Some(text)));
    let mut canonical = vec![0; text.len()];
    assert_eq!(field.name().canonical().write_to(&mut canonical), Some(text.len()));
    assert!(canonical.eq_ignore_ascii_case(text.as_bytes()));
    assert_eq!(field.name().canonical().to_string().as_bytes(), canonical);
    assert_eq!(own.write_spelling(&mut canonical[1..]), None);
    assert_eq!(own.write_spelling(&mut canonical), Some(text.len()));
    assert_eq!(canonical, text.as_bytes());
}
