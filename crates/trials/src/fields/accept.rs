//! A value of `accept`: JSON is what refusals are told in where it is named and wanted at all.

use alula_server::fuzzing::takes_json;

/// The bytes are the value.
pub fn accept(data: &[u8]) {
    // Such a value is sent by no field; spaces around one are not of it.
    let is_field =
        data.iter().all(|byte| !matches!(byte, 0..=8 | 10..=31 | 127)) && data.trim_ascii() == data;
    if is_field {
        assert_eq!(takes_json(data), takes_json_naively(data), "{data:?}");
    }
}

fn takes_json_naively(value: &[u8]) -> bool {
    // Each byte becomes one character, so that nothing is lost.
    let value: String = value.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    value.split(',').any(|element| {
        let parts: Vec<&str> = element.split(';').map(|part| part.trim_matches([' ', '\t'])).collect();
        let is_nothing = |part: &&str| *part == "q=0" || part.trim_end_matches('0') == "q=0.";
        let is_wanted = !parts[1..].iter().any(is_nothing);
        let name = parts[0].strip_prefix("application/");
        is_wanted && name.is_some_and(|name| name == "json" || name.ends_with("+json"))
    })
}
