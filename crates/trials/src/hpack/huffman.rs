//! Huffman-coded strings, both ways, against a decoder that reads bit by bit.

use alula_hpack::{Decoded, Decoder, DecoderLimits};

use super::naive_huffman;

/// The bytes as a coded string, and as a string to code.
pub fn huffman(data: &[u8]) {
    let coded = value_of(data);
    assert_eq!(coded, naive_huffman::decode(data));
    // A string has one code, so that what decodes comes back the same.
    if let Some(plain) = &coded {
        assert_eq!(naive_huffman::encode(plain), data);
    }
    let coded = naive_huffman::encode(data);
    assert_eq!(value_of(&coded).as_deref(), Some(data));
    assert_eq!(naive_huffman::decode(&coded).as_deref(), Some(data));
}

/// What a decoder makes of a literal with this value, coded; nothing if it is refused.
fn value_of(coded: &[u8]) -> Option<Vec<u8>> {
    let mut block = vec![0, 1, b'a'];
    length(coded.len(), &mut block);
    block.extend(coded);
    let mut value = None;
    let mut visit = |field: Decoded<'_>| value = Some(field.value.to_vec());
    let limits = DecoderLimits { string_bytes: u32::MAX, ..DecoderLimits::default() };
    let result = Decoder::new(limits).decode(&block, true, &mut visit);
    assert_eq!(result.is_ok(), value.is_some());
    value
}

/// The length of a coded string (RFC 7541 §5.1, §5.2).
fn length(len: usize, block: &mut Vec<u8>) {
    if len < 0x7f {
        return block.push(0x80 | len as u8);
    }
    let mut rest = len - 0x7f;
    block.push(0xff);
    while rest >= 0x80 {
        block.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}
