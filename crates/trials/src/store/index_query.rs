//! Queries of the store's indexes: parts of paths, parameters, continuations, and names as JSON.

use std::cmp::Ordering;

use alula_store::fuzzing::{IndexQuery, continuation, continuation_text, json_string};

use crate::input::Input;
use crate::memory::{bounded, bounded_by};

/// A text is held once or twice.
const FOR_TEXTS: u64 = 1024;
/// A control character is six in JSON, in a buffer that grows to twice as much.
const NAME_MULTIPLE: u64 = 12;
/// A compiled pattern takes 256 KiB at most, and its parts while it is compiled.
const FOR_QUERIES: u64 = 2 * 1024 * 1024;

/// The first byte says what the others are.
pub fn index_query(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 5 {
        0 => any_continuation(bytes),
        1 => any_result(bytes),
        2 => any_name(bytes),
        3 => any_numbers(bytes),
        _ => any_query(bytes),
    }
}

/// A text is refused, or is the one text of its result.
fn any_continuation(text: &[u8]) {
    if let Some((term, key)) = bounded(text.len(), FOR_TEXTS, || continuation(text)) {
        assert_eq!(continuation_text(&term, &key).as_bytes(), text);
    }
}

fn any_result(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (term, key) = (input.string(), input.string());
    let text = bounded(bytes.len(), FOR_TEXTS, || continuation_text(term, key));
    assert_eq!(continuation(text.as_bytes()), Some((term.to_vec(), key.to_vec())));
}

/// A string is one line, can be cut at no `}`, and stands for these bytes and no others.
fn any_name(bytes: &[u8]) {
    let string = bounded_by(NAME_MULTIPLE, bytes.len(), FOR_TEXTS, || json_string(bytes));
    let string = String::from_utf8(string).expect("JSON is UTF-8");
    assert!(!string.contains(|letter: char| letter == '}' || letter < ' '));
    assert_eq!(unquoted(&string), bytes);
}

/// The bytes of a string, read in the plainest way.
fn unquoted(string: &str) -> Vec<u8> {
    let within = string.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("quotes");
    let (mut bytes, mut letters) = (Vec::new(), within.chars());
    while let Some(letter) = letters.next() {
        assert_ne!(letter, '"');
        match letter {
            '\\' => bytes.push(escaped(&mut letters)),
            '\u{ef80}'..='\u{efff}' => bytes.push((u32::from(letter) & 0xff) as u8),
            other => bytes.extend_from_slice(other.to_string().as_bytes()),
        }
    }
    bytes
}

fn escaped(letters: &mut std::str::Chars<'_>) -> u8 {
    match letters.next().expect("an escape goes on") {
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'u' => {
            let digits: String = letters.take(4).collect();
            u8::from_str_radix(&digits, 16).expect("an escape of ASCII")
        }
        other => other as u8,
    }
}

/// Two whole numbers are a range that has its ends exactly if they are in order.
fn any_numbers(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (low, high) = (input.string(), input.string());
    let range = IndexQuery::read(b"age_int", low, Some(high), b"");
    let (Some((low, high)), Some(range)) = (number(low).zip(number(high)), &range) else {
        assert!(range.is_none() && number(low).zip(number(high)).is_none());
        return;
    };
    let is_range = compare(&low, &high) != Ordering::Greater;
    for number in [low, high] {
        let term = in_order(&number);
        assert_eq!(range.takes(&term, b""), is_range);
        assert_eq!(range.shown(&term), text(&number));
    }
}

/// A number: true if it is below zero, and its digits without leading zeros.
type Number = (bool, Vec<u8>);

fn number(text: &[u8]) -> Option<Number> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || digits.iter().any(|digit| !digit.is_ascii_digit()) {
        return None;
    }
    let digits: Vec<u8> = digits.iter().copied().skip_while(|digit| *digit == b'0').collect();
    Some((text[0] == b'-' && !digits.is_empty(), digits))
}

fn compare(one: &Number, other: &Number) -> Ordering {
    let size = |number: &Number| (number.1.len(), number.1.clone());
    match (one.0, other.0) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (true, true) => size(other).cmp(&size(one)),
        (false, false) => size(one).cmp(&size(other)),
    }
}

fn text((is_negative, digits): &Number) -> Vec<u8> {
    let digits = if digits.is_empty() { b"0" } else { &digits[..] };
    if *is_negative { [b"-", digits].concat() } else { digits.to_vec() }
}

/// The form in which engines order terms.
fn in_order(number: &Number) -> Vec<u8> {
    let mut out = Vec::new();
    alula_store::model::term::write_integer(&text(number), &mut out);
    out
}

/// Whatever is asked for is refused, or has results of at least one, within its range.
fn any_query(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let field = *input.pick(&[&b"name_bin"[..], b"$key", b"$bucket", b"age_int"]);
    let (low, high) = (input.string(), input.flag().then(|| input.string()));
    let term = input.string();
    let parameters = input.take(usize::MAX);
    let query = bounded(bytes.len(), FOR_QUERIES, || IndexQuery::read(field, low, high, parameters));
    let Some(query) = query else { return };
    assert!(query.results_max().is_none_or(|most| most > 0));
    let is_taken = match field {
        b"$key" => query.takes(b"", term),
        b"name_bin" => query.takes(term, b""),
        _ => return,
    };
    assert!(!is_taken || (low <= term && term <= high.unwrap_or(low)));
}
