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
    cut(&value, ',').iter().any(|element| {
        let parts: Vec<&str> = cut(element, ';').iter().map(|part| part.trim_matches([' ', '\t'])).collect();
        let weight = parts[1..].iter().find_map(|part| {
            let (name, weight) = part.split_once('=').unwrap_or((part, ""));
            (name.trim_matches([' ', '\t']) == "q").then_some(weight.trim_matches([' ', '\t']))
        });
        // Digits behind the third are dropped.
        let is_nothing = weight.is_some_and(|weight| {
            let digits = weight.strip_prefix('0').unwrap_or(weight);
            let fraction = digits.strip_prefix('.').unwrap_or_default();
            let is_number = weight != "." && fraction.chars().all(|digit| digit.is_ascii_digit());
            let is_zero = fraction.chars().take(3).all(|digit| digit == '0');
            is_number && is_zero && (digits.is_empty() && !weight.is_empty() || digits.starts_with('.'))
        });
        let name = parts[0].strip_prefix("application/");
        !is_nothing && name.is_some_and(|name| name == "json" || name.ends_with("+json"))
    })
}

/// Cuts at separators outside of quoted strings, which end at a quote that no backslash is before.
pub(super) fn cut(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut begin, mut at) = (Vec::new(), 0, 0);
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    while let Some((place, character)) = characters.get(at) {
        if *character == '"' {
            at += 1;
            while characters.get(at).is_some_and(|(_, character)| *character != '"') {
                at += if characters[at].1 == '\\' { 2 } else { 1 };
            }
        } else if *character == separator {
            pieces.push(&text[begin..*place]);
            begin = place + 1;
        }
        at += 1;
    }
    pieces.push(&text[begin..]);
    pieces
}
