//! Strings in blocks: a length and bytes, plain or in Huffman code (RFC 7541 §5.2).

use crate::encode::config::Huffman;
use crate::{huffman, wire::integer};

const HUFFMAN: u8 = 0x80;
const PREFIX: u32 = 7;

/// Returns the most bytes that a string of `len` bytes takes.
#[inline]
pub(crate) fn encoded_len_max(len: usize, huffman: Huffman) -> usize {
    // The longest code word has 30 bits. Two more lengths: the coder may start behind a longer length than it
    // ends with.
    2 * integer::LEN_MAX + if huffman == Huffman::Always { len * 4 } else { len }
}

/// Writes a string to the start of `out`, which has room for [`encoded_len_max`]; returns the length.
#[inline]
pub(crate) fn encode(plain: &[u8], coding: Huffman, out: &mut [u8]) -> usize {
    // For `Shorter`, the coder gets one byte less than the string has and so gives up when it is not
    // shorter.
    let room = match coding {
        _ if plain.is_empty() => return encode_plain(plain, out),
        Huffman::Never => return encode_plain(plain, out),
        Huffman::Shorter => plain.len() - 1,
        Huffman::Always => plain.len() * 4,
    };
    let start = integer::len(plain.len() as u32, PREFIX);
    match huffman::encode(plain, &mut out[start..start + room]) {
        Some(len) if start == 1 && len < 0x7f => {
            out[0] = HUFFMAN | len as u8;
            1 + len
        }
        Some(len) => settle(start, len, out),
        None => encode_plain(plain, out),
    }
}

/// Writes the length before `len` bytes of code at `start`, and moves them if it needs more or less room.
#[cold]
fn settle(start: usize, len: usize, out: &mut [u8]) -> usize {
    let head = integer::len(len as u32, PREFIX);
    if head != start {
        out.copy_within(start..start + len, head);
    }
    integer::encode(len as u32, PREFIX, HUFFMAN, out) + len
}

#[inline]
fn encode_plain(plain: &[u8], out: &mut [u8]) -> usize {
    let start = integer::encode(plain.len() as u32, PREFIX, 0, out);
    out[start..start + plain.len()].copy_from_slice(plain);
    start + plain.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn encoded(plain: &[u8], coding: Huffman) -> Vec<u8> {
        let mut out = vec![0; encoded_len_max(plain.len(), coding)];
        let len = encode(plain, coding, &mut out);
        out.truncate(len);
        out
    }

    #[test]
    fn code_is_used_only_where_it_is_shorter() {
        assert_eq!(encoded(b"302", Huffman::Shorter), [0x82, 0x64, 0x02]);
        assert_eq!(encoded(b"302", Huffman::Never), *b"\x03302");
        assert_eq!(encoded(b"/", Huffman::Shorter), *b"\x01/");
        assert_eq!(encoded(b"/", Huffman::Always), [0x81, 0x63]);
        assert_eq!(encoded(b"\0\0", Huffman::Shorter), [2, 0, 0]);
        assert_eq!(encoded(b"\0\0", Huffman::Always), [0x84, 0xff, 0xc7, 0xfe, 0x3f]);
        for coding in [Huffman::Never, Huffman::Shorter, Huffman::Always] {
            assert_eq!(encoded(b"", coding), [0]);
        }
    }

    #[test]
    fn lengths_around_every_boundary_agree_with_two_passes() {
        for byte in [b'a', b'Z', b'{', 0xff] {
            for len in (1..600).chain([16_000, 20_000, 30_000, 40_000]) {
                let plain = vec![byte; len];
                let code = huffman::encoded_len(&plain);
                let shorter = if code < len {
                    integer::len(code as u32, 7) + code
                } else {
                    integer::len(len as u32, 7) + len
                };
                assert_eq!(encoded(&plain, Huffman::Shorter).len(), shorter);
                assert_eq!(encoded(&plain, Huffman::Always).len(), integer::len(code as u32, 7) + code);
            }
        }
    }
}
