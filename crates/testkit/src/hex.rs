//! Hexadecimal, as RFCs and vectors print it.

/// The bytes of a text of hexadecimal digits in any case; white space, `|`, `_` and `:` between bytes are
/// skipped.
///
/// # Panics
/// When something else is there, or a digit stands alone: vectors are part of the tests, so it is a mistake
/// in one.
///
/// ```
/// use alula_testkit::hex;
///
/// assert_eq!(hex::parse("82 84\n8741"), [0x82, 0x84, 0x87, 0x41]);
/// ```
pub fn parse(text: &str) -> Vec<u8> {
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, '|' | '_' | ':');
    let mut bytes = Vec::new();
    for run in text.split(is_between) {
        assert!(run.len().is_multiple_of(2), "{run:?} is no whole number of bytes");
        let digits =
            run.chars().map(|digit| digit.to_digit(16).unwrap_or_else(|| panic!("{digit:?} in {run:?}")));
        let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
        bytes.extend(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]));
    }
    bytes
}

/// The bytes in lower-case hexadecimal, a space after every two, as RFC 7541 prints them.
///
/// ```
/// assert_eq!(alula_testkit::hex::format(&[0x82, 0x84, 0x87]), "8284 87");
/// ```
pub fn format(bytes: &[u8]) -> String {
    let pairs = bytes.chunks(2).map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    pairs.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_and_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(super::parse(&super::format(&bytes)), bytes);
        assert_eq!(super::parse("AB:cd|EF_01\t23"), [0xab, 0xcd, 0xef, 0x01, 0x23]);
        assert_eq!((super::parse(""), super::format(&[])), (vec![], String::new()));
    }

    #[test]
    #[should_panic(expected = "no whole number")]
    fn half_an_byte_is_a_mistake() {
        super::parse("82 8");
    }

    #[test]
    #[should_panic(expected = "'g'")]
    fn what_is_no_digit_is_a_mistake() {
        super::parse("8g");
    }
}
