//! From octets to Huffman code.

use super::codes::CODES;

/// For tests: how many octets `plain` takes in Huffman code.
#[cfg(test)]
pub(crate) fn encoded_len(plain: &[u8]) -> usize {
    let bits: usize = plain.iter().map(|&octet| usize::from(CODES[usize::from(octet)].len)).sum();
    bits.div_ceil(8)
}

/// Writes `plain` in Huffman code to the start of `out` and says how many octets that took, or nothing when `out` is
/// too short for it: so a caller who hands out one octet less than `plain` has learns whether the code is shorter,
/// in one pass.
#[inline]
pub(crate) fn encode(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    // The lowest `held` bits of `bits` are not written yet; there are fewer than 32 between two symbols.
    let (mut bits, mut held, mut at) = (0u64, 0u32, 0);
    for &octet in plain {
        let code = CODES[usize::from(octet)];
        bits = bits << code.len | u64::from(code.bits);
        held += u32::from(code.len);
        if held >= 32 {
            held -= 32;
            out.get_mut(at..at + 4)?.copy_from_slice(&((bits >> held) as u32).to_be_bytes());
            at += 4;
        }
    }
    // The last octet is filled up with ones, the first bits of the end-of-string symbol (RFC 7541 §5.2).
    let last = ((bits << 32 | 0xffff_ffff) >> held) as u32;
    let rest = held.div_ceil(8) as usize;
    out.get_mut(at..at + rest)?.copy_from_slice(&last.to_be_bytes()[..rest]);
    Some(at + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strings of RFC 7541 C.4 and C.6.
    #[test]
    fn encodes_the_strings_of_the_rfc() {
        let rows: [(&[u8], &[u8]); 5] = [
            (b"www.example.com", &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff]),
            (b"no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            (b"custom-key", &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f]),
            (b"302", &[0x64, 0x02]),
            (b"", &[]),
        ];
        for (plain, coded) in rows {
            let mut out = [0; 64];
            assert_eq!(encode(plain, &mut out), Some(coded.len()));
            assert_eq!(&out[..coded.len()], coded);
            assert_eq!(encoded_len(plain), coded.len());
        }
    }

    #[test]
    fn gives_up_exactly_when_there_is_no_room() {
        for plain in [&b"www.example.com"[..], b"\x00\x01\xff", b"a", b"0123456789abcdef0123456789ABCDEF"] {
            let len = encoded_len(plain);
            let mut out = [0; 128];
            for room in 0..len {
                assert_eq!(encode(plain, &mut out[..room]), None, "{plain:?} in {room}");
            }
            assert_eq!(encode(plain, &mut out[..len]), Some(len));
        }
    }
}
