//! Integers with a prefix (RFC 7541 §5.1), up to 2^32 - 1.
//!
//! Five continuation bytes hold any of them. Zeroes that make an integer longer than need be are accepted
//! within these five: the RFC allows them, and some encoders reserve room for a length before they know it.

use crate::error::DecodeError;

/// The most bytes an integer takes.
pub(crate) const LEN_MAX: usize = 6;

/// Returns the number of bytes of `value` behind a prefix of `prefix` bits.
#[inline]
pub(crate) const fn len(value: u32, prefix: u32) -> usize {
    let full = (1 << prefix) - 1;
    if value < full {
        return 1;
    }
    let bits = (value - full).checked_ilog2();
    2 + match bits {
        Some(bits) => bits as usize / 7,
        None => 0,
    }
}

/// Writes `value` to the start of `out`, with `pattern` in the bits before the prefix; returns the length.
#[inline]
pub(crate) fn encode(value: u32, prefix: u32, pattern: u8, out: &mut [u8]) -> usize {
    let full = (1 << prefix) - 1;
    if value < full {
        out[0] = pattern | value as u8;
        return 1;
    }
    out[0] = pattern | full as u8;
    encode_rest(value - full, out)
}

#[cold]
fn encode_rest(mut rest: u32, out: &mut [u8]) -> usize {
    let mut at = 1;
    while rest >= 0x80 {
        out[at] = rest as u8 | 0x80;
        rest >>= 7;
        at += 1;
    }
    out[at] = rest as u8;
    at + 1
}

/// Reads the integer at `at`: its value and the place behind it, or nothing if more bytes are needed.
#[inline]
pub(crate) fn decode(input: &[u8], at: usize, prefix: u32) -> Result<Option<(u32, usize)>, DecodeError> {
    let Some(&first) = input.get(at) else { return Ok(None) };
    let full = (1 << prefix) - 1;
    let value = u32::from(first) & full;
    if value < full { Ok(Some((value, at + 1))) } else { decode_rest(full, input, at + 1) }
}

#[cold]
fn decode_rest(full: u32, input: &[u8], at: usize) -> Result<Option<(u32, usize)>, DecodeError> {
    let mut value = u64::from(full);
    for place in 0..5 {
        let Some(&byte) = input.get(at + place) else { return Ok(None) };
        value += u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).map_err(|_| DecodeError::INTEGER)?;
            return Ok(Some((value, at + place + 1)));
        }
    }
    Err(DecodeError::INTEGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 C.1.
    #[test]
    fn the_examples_of_the_rfc() {
        let rows: [(u32, u32, &[u8]); 3] =
            [(10, 5, &[0b01010]), (1337, 5, &[0b11111, 0b1001_1010, 0b0000_1010]), (42, 8, &[0b0010_1010])];
        for (value, prefix, bytes) in rows {
            let mut out = [0; LEN_MAX];
            assert_eq!(encode(value, prefix, 0, &mut out), bytes.len());
            assert_eq!(&out[..bytes.len()], bytes);
            assert_eq!(decode(bytes, 0, prefix), Ok(Some((value, bytes.len()))));
        }
    }

    #[test]
    fn every_length_and_prefix_comes_back() {
        for prefix in 4..=8 {
            for bit in 0..32 {
                for value in
                    [(1u32 << bit) - 1, 1 << bit, (1u32 << bit) + 1, (1 << bit) + 126, u32::MAX - bit]
                {
                    let mut out = [0; LEN_MAX];
                    let len = encode(value, prefix, 0, &mut out);
                    assert_eq!(len, super::len(value, prefix));
                    assert_eq!(decode(&out[..len], 0, prefix), Ok(Some((value, len))));
                    for cut in 0..len {
                        assert_eq!(decode(&out[..cut], 0, prefix), Ok(None));
                    }
                }
            }
        }
    }

    #[test]
    fn more_than_32_bits_or_five_continuations_are_refused() {
        let max = [0xff, 0x80, 0xfe, 0xff, 0xff, 0x0f];
        assert_eq!(decode(&max, 0, 8), Ok(Some((u32::MAX, 6))));
        assert_eq!(decode(&[0xff, 0x81, 0xfe, 0xff, 0xff, 0x0f], 0, 8), Err(DecodeError::INTEGER));
        assert_eq!(decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], 0, 8), Err(DecodeError::INTEGER));
        assert_eq!(decode(&[0xff, 0x81, 0x80, 0x80, 0x80, 0x00], 0, 8), Ok(Some((256, 6))));
        assert_eq!(decode(&[0xff, 0x81, 0x80, 0x80, 0x80, 0x80], 0, 8), Err(DecodeError::INTEGER));
        assert_eq!(decode(&[0xff, 0x81, 0x80, 0x80, 0x80], 0, 8), Ok(None));
    }
}
