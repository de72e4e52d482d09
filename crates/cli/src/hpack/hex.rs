//! Bytes as hexadecimal digits.

/// Returns two lower-case digits for each byte.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Returns the bytes; nothing if there is another character, or an odd number of digits.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits_are_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
        assert_eq!(encode(&[0x00, 0xab, 0xff]), "00abff");
        assert_eq!(decode("ABcd"), Some(vec![0xab, 0xcd]));
        assert_eq!(decode(""), Some(vec![]));
        for wrong in ["a", "abc", "zz", "a b", "ä"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
