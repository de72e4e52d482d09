//! Terms of indexes, as bytes that sort in the order of the terms.
//!
//! A term of an index of bytes is its bytes. A term of an index of whole numbers is, whatever its size:
//!
//! ```text
//! sign     1 byte: 0 below zero, 1 from zero on
//! digits   their count, 4 bytes, the high ones first
//!          the decimal digits, without leading zeros
//! ```
//!
//! Below zero every byte after the sign is inverted, so that the longer number is the lesser one.

use super::Attribute;

/// Returns the index of an attribute, and its term in sortable form written over `out`; `None` for what is no
/// entry of an index.
///
/// ```
/// use alula_store::model::{Attribute, term};
///
/// let (mut two, mut ten) = (Vec::new(), Vec::new());
/// term::of(Attribute::IntegerEntry { field: b"age_int", term: b"2" }, &mut two);
/// term::of(Attribute::IntegerEntry { field: b"age_int", term: b"10" }, &mut ten);
/// assert!(two < ten);
/// ```
pub fn of<'a>(attribute: Attribute<'a>, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    out.clear();
    match attribute {
        Attribute::BinaryEntry { field, term } => {
            out.extend_from_slice(term);
            Some(field)
        }
        Attribute::IntegerEntry { field, term } => {
            write_integer(term, out);
            Some(field)
        }
        _ => None,
    }
}

/// Returns the digits of a whole number without leading zeros, after `-` if it is negative, written over
/// `out`; `None` for other text. `+` may stand before it.
pub fn normal_integer(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = &digits[zeros.min(digits.len() - 1)..];
    out.clear();
    if is_negative && digits != b"0" {
        out.push(b'-');
    }
    out.extend_from_slice(digits);
    Some(())
}

/// Appends a [normal](normal_integer) whole number in sortable form.
pub fn write_integer(normal: &[u8], out: &mut Vec<u8>) {
    let negative = normal.strip_prefix(b"-");
    let digits = negative.unwrap_or(normal);
    out.push(u8::from(negative.is_none()));
    let start = out.len();
    // Digits come in fields and paths, which are far shorter than 4 GiB.
    out.extend_from_slice(&(digits.len() as u32).to_be_bytes());
    out.extend_from_slice(digits);
    if negative.is_some() {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Appends the text of a whole number that [`write_integer`] wrote; `None` for other bytes.
pub fn read_integer(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (sign, rest) = bytes.split_first()?;
    let (_, digits) = rest.split_first_chunk::<4>()?;
    match sign {
        0 => {
            out.push(b'-');
            out.extend(digits.iter().map(|byte| !byte));
        }
        1 => out.extend_from_slice(digits),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order(number: &str) -> Vec<u8> {
        let (mut normal, mut out) = (Vec::new(), Vec::new());
        normal_integer(number.as_bytes(), &mut normal).expect("a whole number");
        write_integer(&normal, &mut out);
        out
    }

    #[test]
    fn numbers_of_any_size_are_in_order() {
        let numbers = [
            "-100000000000000000000000",
            "-99999999999999999999999",
            "-10",
            "-9",
            "-1",
            "0",
            "1",
            "9",
            "10",
            "99",
            "100",
            "18446744073709551616",
            "100000000000000000000000",
        ];
        assert!(numbers.map(in_order).is_sorted_by(|one, next| one < next));
        for number in numbers {
            let mut text = Vec::new();
            assert_eq!(read_integer(&in_order(number), &mut text), Some(()));
            assert_eq!(text, number.as_bytes());
        }
    }

    #[test]
    fn one_number_has_one_form() {
        for (text, normal) in [("007", "7"), ("+7", "7"), ("-0", "0"), ("000", "0"), ("-010", "-10")] {
            let mut out = Vec::new();
            assert_eq!(normal_integer(text.as_bytes(), &mut out), Some(()));
            assert_eq!(out, normal.as_bytes(), "{text}");
        }
        for text in ["", "-", "+", "1a", "--1", " 1", "1 ", "0x1", "1.0"] {
            assert_eq!(normal_integer(text.as_bytes(), &mut Vec::new()), None, "{text}");
        }
    }
}
