//! Pairs of a query, as the URL standard has them.

use alula_server::fuzzing::query_pairs;

/// The bytes are the query.
pub fn query(data: &[u8]) {
    let pieces = data.split(|byte| *byte == b'&').filter(|piece| !piece.is_empty());
    let expected: Vec<(String, String)> = pieces.map(pair).collect();
    assert_eq!(query_pairs(data), expected, "{data:?}");
}

fn pair(piece: &[u8]) -> (String, String) {
    let at = piece.iter().position(|byte| *byte == b'=');
    let (name, value) = at.map_or((piece, &[][..]), |at| (&piece[..at], &piece[at + 1..]));
    (decoded(name), decoded(value))
}

/// Byte by byte; an escape that is none stays.
fn decoded(raw: &[u8]) -> String {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while at < raw.len() {
        let escape = raw.get(at + 1..at + 3).filter(|_| raw[at] == b'%').and_then(hex);
        bytes.push(escape.unwrap_or(if raw[at] == b'+' { b' ' } else { raw[at] }));
        at += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let [high, low] = [digits[0], digits[1]].map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? * 16 + low?).ok()
}
