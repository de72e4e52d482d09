//! Values of fields, against the definition of one and a walk through the table of known values.

use alula_fields::{FieldErrorKind, FieldSection, KnownName, KnownValue, bytes};
use alula_hpack::Class;

/// The bytes as the value of a field.
pub fn field_value(data: &[u8]) {
    let bad = data.iter().position(|&byte| byte < 0x20 && byte != b'\t' || byte == 0x7f);
    assert_eq!(bytes::is_field_value(data), bad.is_none());
    let class = Class::of(b"x-a", data);
    assert_eq!((class.value_ok(), class.value_trimmed()), (bad.is_none(), bytes::is_trimmed(data)));
    trimmed(data);
    known(data);
    stored(data, bad);
}

fn trimmed(data: &[u8]) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = data.iter().take_while(|byte| is_space(byte)).count();
    let end = data.iter().skip(start).rev().take_while(|byte| is_space(byte)).count();
    let expected = &data[start..data.len() - end];
    assert_eq!(bytes::trim(data), expected);
    assert_eq!(bytes::is_trimmed(data), expected.len() == data.len());
}

fn known(data: &[u8]) {
    for name in KnownName::all() {
        let mut all = (1..=KnownValue::COUNT).filter_map(|id| KnownValue::from_id(id as u8));
        let expected = all.find(|value| value.name() == name && value.as_str().as_bytes() == data);
        assert_eq!(KnownValue::lookup(name, data), expected);
    }
}

fn stored(data: &[u8], bad: Option<usize>) {
    let mut section = FieldSection::new();
    for name in ["x-a", "content-type"] {
        let result = section.append(name, data);
        assert_eq!(result.is_ok(), bad.is_none());
        if let Err(error) = result {
            assert_eq!((error.kind(), error.position()), (FieldErrorKind::Value, bad));
            assert!(!error.to_string().is_empty());
            assert_eq!(section.set(name, data), Err(error));
            assert!(section.is_empty());
            continue;
        }
        section.set(name, data).expect("it was taken before");
        assert_eq!(section.get_all(name).collect::<Vec<_>>(), [data]);
    }
    if bad.is_none() {
        let mut secret = FieldSection::new();
        secret.append_sensitive("x-a", data).expect("it was taken before");
        assert_eq!(format!("{secret:?}"), "[x-a: \"…\"]");
    }
}
