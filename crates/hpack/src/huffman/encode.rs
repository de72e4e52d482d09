//! Encodes bytes to Huffman code.

#[cfg(test)]
use super::codes::CODES;
use super::codes::TABLE;

/// Returns the length of `plain` in Huffman code; for tests.
#[cfg(test)]
pub(crate) fn encoded_len(plain: &[u8]) -> usize {
    let bits: usize = plain.iter().map(|&byte| usize::from(CODES[usize::from(byte)].len)).sum();
    bits.div_ceil(8)
}

/// Writes `plain` in Huffman code to the start of `out` and returns the length, or nothing if `out` is too
/// short: with one byte less than `plain` a caller learns in one pass whether the code is shorter.
#[inline]
pub(crate) fn encode(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut bits = Bits { word: 0, held: 0 };
    let len = out.len();
    let mut rest = out;
    let (fours, last) = plain.as_chunks::<4>();
    for bytes in fours {
        // Four code words mostly fit into the word together, and are written at most once.
        let codes = bytes.map(|byte| WORDS[usize::from(byte)]);
        let [a, b, c, d] = codes;
        let (front, back) = (a.len + b.len, c.len + d.len);
        if front + back <= 32 {
            let ends = [a.bits << (b.len & 31) | b.bits, c.bits << (d.len & 31) | d.bits];
            bits.push(u64::from(ends[0]) << (back & 63) | u64::from(ends[1]), front + back);
            rest = bits.flush(rest)?;
        } else {
            rest = encode_each(bytes, &mut bits, rest)?;
        }
    }
    rest = encode_each(last, &mut bits, rest)?;
    Some(len - rest.len() + bits.finish(rest)?)
}

/// Writes symbol by symbol; returns the rest of `out`.
fn encode_each<'o>(plain: &[u8], bits: &mut Bits, mut out: &'o mut [u8]) -> Option<&'o mut [u8]> {
    for &byte in plain {
        let code = WORDS[usize::from(byte)];
        bits.push(u64::from(code.bits), code.len);
        out = bits.flush(out)?;
    }
    Some(out)
}

/// Bits that are not written yet: the `held` lowest of `word`, fewer than 32 between two symbols.
struct Bits {
    word: u64,
    held: u32,
}

impl Bits {
    /// Adds bits, at most 32.
    #[inline(always)]
    fn push(&mut self, bits: u64, len: u32) {
        self.word = self.word << (len & 63) | bits;
        self.held += len;
    }

    /// Writes 32 bits if there are as many; returns the rest of `out`.
    #[inline(always)]
    fn flush<'o>(&mut self, out: &'o mut [u8]) -> Option<&'o mut [u8]> {
        if self.held < 32 {
            return Some(out);
        }
        self.held -= 32;
        let (place, rest) = out.split_first_chunk_mut::<4>()?;
        *place = ((self.word >> (self.held & 63)) as u32).to_be_bytes();
        Some(rest)
    }

    /// Writes the last bits, and returns the length.
    #[inline(always)]
    fn finish(self, out: &mut [u8]) -> Option<usize> {
        // The last byte is filled up with ones, the first bits of the end-of-string symbol (RFC 7541 §5.2).
        let last = ((self.word << 32 | 0xffff_ffff) >> (self.held & 63)) as u32;
        let count = self.held.div_ceil(8) as usize;
        match out.first_chunk_mut::<4>() {
            Some(place) => *place = last.to_be_bytes(),
            None => {
                let place = out.get_mut(..count)?;
                place.iter_mut().zip(last.to_be_bytes()).for_each(|(place, byte)| *place = byte);
            }
        }
        Some(count)
    }
}

/// The code words of the bytes, in the form that loads fastest.
static WORDS: [Word; 256] = {
    let mut words = [Word { bits: 0, len: 0 }; 256];
    let mut byte = 0;
    while byte < 256 {
        words[byte] = Word { bits: TABLE[byte].bits, len: TABLE[byte].len as u32 };
        byte += 1;
    }
    words
};

#[derive(Clone, Copy)]
struct Word {
    bits: u32,
    len: u32,
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
