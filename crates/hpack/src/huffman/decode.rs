//! Decodes Huffman code to bytes.
//!
//! A step looks at the next [`STEP`] bits and finds one or two bytes in a table, with the classes both belong
//! to. Four steps make a round: one word is loaded at the bit where the code has got to, one word is written,
//! and one sum over what the steps found says how far both go. Code words longer than a step are rare bytes;
//! they stop a round, and are found by their length, which works because the code is canonical. The cost is
//! linear in the length of the code, whatever it holds.

use super::codes::{CODES, LEN_MAX, LEN_MIN, TABLE};
use crate::encode::class::Bytes;
use crate::error::DecodeError;

/// The bits of a step: any two of the 36 most common bytes fit into twelve, and the table into half of an L1
/// cache.
const STEP: u32 = 12;

/// The bits of a round; a word loaded at any bit has at least 57.
const ROUND: usize = 4 * STEP as usize;

/// Returns the most bytes that `coded` bytes decode to, which the decoder needs as room.
#[inline]
pub(crate) const fn decoded_len_max(coded: usize) -> usize {
    // One byte takes five bits at least; a round writes eight bytes, however few are meant.
    coded * 8 / LEN_MIN as usize + 8
}

/// Decodes `coded` to the start of `out`; returns the number of bytes, and the classes that they share.
///
/// `out` has room for [`decoded_len_max`].
#[inline]
pub(crate) fn decode(coded: &[u8], out: &mut [u8]) -> Result<(usize, Bytes), DecodeError> {
    let end = coded.len() * 8;
    let (mut bit, mut at, mut all) = (0, 0, u32::MAX);
    while bit + ROUND <= end {
        let mut word = word_at(coded, bit);
        let (mut bytes, mut sum, mut last) = (0, 0, 0);
        for _ in 0..4 {
            // A code word that is too long for a step is found again by those after it, and counts nothing.
            let step = STEPS[(word >> (64 - STEP)) as usize];
            word <<= step.bits() & 63;
            bytes |= step.bytes() << (sum & 63);
            sum = step.0.wrapping_add(sum);
            all &= step.0;
            last = step.0;
        }
        out[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
        at += Step(sum).count();
        bit += Step(sum).bits() as usize;
        // Rare bytes rarely come alone.
        while Step(last).bits() == 0 {
            let (byte, len) = long(!inverted_at(coded, bit), end - bit)?;
            out[at] = byte;
            at += 1;
            bit += len;
            all &= to_step(Bytes::of(byte));
            if bit + ROUND > end {
                break;
            }
            last = STEPS[(word_at(coded, bit) >> (64 - STEP)) as usize].0;
        }
    }
    let (at, tail) = decode_tail(inverted_at(coded, bit), end - bit, out, at)?;
    Ok((at, from_step(all & tail)))
}

/// Decodes the last bits of a string, fewer than a round has, without reading the padding as code.
///
/// The bits are inverted, so that what is shifted in behind them is padding.
#[inline]
fn decode_tail(
    mut inverted: u64,
    mut left: usize,
    out: &mut [u8],
    mut at: usize,
) -> Result<(usize, u32), DecodeError> {
    let mut all = u32::MAX;
    loop {
        let step = STEPS[(!inverted >> (64 - STEP)) as usize];
        let mut len = step.bits() as usize;
        if len != 0 && len <= left {
            out[at..at + 2].copy_from_slice(&(step.bytes() as u16).to_le_bytes());
            at += step.count();
            all &= step.0;
        } else {
            if left < 8 && inverted == 0 {
                return Ok((at, all));
            }
            let byte;
            (byte, len) = one(step, !inverted, left)?;
            out[at] = byte;
            at += 1;
            all &= to_step(Bytes::of(byte));
        }
        inverted <<= len;
        left -= len;
    }
}

/// Returns the first byte of a step that has more than is left, or a byte too long for a step; and its length
/// in bits.
#[cold]
fn one(step: Step, word: u64, left: usize) -> Result<(u8, usize), DecodeError> {
    if step.bits() == 0 {
        return long(word, left);
    }
    let byte = step.bytes() as u8;
    let len = usize::from(CODES[usize::from(byte)].len);
    if len <= left { Ok((byte, len)) } else { Err(bad_padding(word)) }
}

/// Returns a byte whose code word is longer than a step and may be cut after `left` bits; and its length in
/// bits.
fn long(word: u64, left: usize) -> Result<(u8, usize), DecodeError> {
    let mut len = STEP as usize + 1;
    // No word is above the end of the longest ones, so this ends.
    while word >> 32 >= LENGTHS[len].end {
        len += 1;
    }
    if len > left {
        return Err(bad_padding(word));
    }
    let number = (word >> (64 - len)) as usize - LENGTHS[len].first as usize;
    let symbol = BY_LENGTH[LENGTHS[len].offset as usize + number];
    u8::try_from(symbol).map(|byte| (byte, len)).map_err(|_| DecodeError::HUFFMAN_EOS)
}

/// Returns the broken rule for bits before the padding that code no byte.
#[cold]
fn bad_padding(word: u64) -> DecodeError {
    if word == u64::MAX { DecodeError::HUFFMAN_LONG_PADDING } else { DecodeError::HUFFMAN_PADDING }
}

/// Returns the 57 or more bits from this one on, enough for a round and for any code word.
#[inline(always)]
fn word_at(coded: &[u8], bit: usize) -> u64 {
    bytes_at(coded, bit / 8) << (bit % 8)
}

/// Returns the same bits inverted, as if the code were followed by ones.
#[inline(always)]
fn inverted_at(coded: &[u8], bit: usize) -> u64 {
    !bytes_at(coded, bit / 8) << (bit % 8)
}

/// Returns the eight bytes from this one on, as if ones followed the end.
#[inline(always)]
fn bytes_at(coded: &[u8], at: usize) -> u64 {
    match coded.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_be_bytes(*word),
        None => last_word(coded, at),
    }
}

/// Returns the word that begins less than eight bytes before the end.
#[inline]
fn last_word(coded: &[u8], at: usize) -> u64 {
    match coded.last_chunk::<8>() {
        Some(last) => {
            let missing = (at + 8 - coded.len()) as u32 * 8;
            !(!u64::from_be_bytes(*last)).checked_shl(missing).unwrap_or(0)
        }
        None => {
            let mut word = [0xff; 8];
            for (place, &byte) in word.iter_mut().zip(&coded[at..]) {
                *place = byte;
            }
            u64::from_be_bytes(word)
        }
    }
}

/// The result of a step: bits 0–7 eight times the number of bytes, 8–13 their length in bits, 14–15 the
/// shared classes, 16–31 the bytes, the first lowest. Zero: the code word is longer than a step.
///
/// The lowest fourteen bits of four of them can be added up: 8 bytes and 48 bits are the most.
#[derive(Clone, Copy)]
struct Step(u32);

impl Step {
    const LONG: Self = Self(CLASSES);

    const fn one(byte: u8, len: u8) -> Self {
        let classes = to_step(Bytes::of(byte)) & CLASSES;
        Self(8 | (len as u32) << 8 | classes | (byte as u32) << 16)
    }

    /// Returns the result for two bytes.
    const fn two(self, second: Self) -> Self {
        let bits = self.bits() + second.bits();
        let bytes = (self.bytes() | second.bytes() << 8) as u32;
        Self(16 | bits << 8 | self.0 & second.0 & CLASSES | bytes << 16)
    }

    #[inline(always)]
    const fn bytes(self) -> u64 {
        (self.0 >> 16) as u64
    }

    #[inline(always)]
    const fn bits(self) -> u32 {
        self.0 >> 8 & 63
    }

    #[inline(always)]
    const fn count(self) -> usize {
        (self.0 as u8 >> 3) as usize
    }
}

const CLASS_SHIFT: u32 = 14;
const CLASSES: u32 = 3 << CLASS_SHIFT;

/// Returns the classes as bits of a step; all other bits are ones, so that `&` intersects sets of
/// classes.
const fn to_step(classes: Bytes) -> u32 {
    (classes.bits() as u32) << CLASS_SHIFT | !CLASSES
}

const fn from_step(step: u32) -> Bytes {
    Bytes::from_bits((step >> CLASS_SHIFT & 3) as u8)
}

static STEPS: [Step; 1 << STEP] = {
    let mut ones = [Step::LONG; 1 << STEP];
    let mut symbol = 0;
    while symbol < 256 {
        let code = TABLE[symbol];
        if code.len as u32 <= STEP {
            let spread = STEP - code.len as u32;
            let mut index = code.bits << spread;
            while index < (code.bits + 1) << spread {
                ones[index as usize] = Step::one(symbol as u8, code.len);
                index += 1;
            }
        }
        symbol += 1;
    }
    let mut steps = ones;
    let mut index = 0;
    while index < ones.len() {
        let first = ones[index];
        let second = ones[(index << first.bits()) & (ones.len() - 1)];
        if first.bits() != 0 && second.bits() != 0 && first.bits() + second.bits() <= STEP {
            steps[index] = first.two(second);
        }
        index += 1;
    }
    steps
};

/// The code words of one length: the first, where they begin in [`BY_LENGTH`], and what is above all of them
/// and shorter ones, as the first of 32 bits.
#[derive(Clone, Copy)]
struct Length {
    end: u64,
    first: u32,
    offset: u32,
}

const BY_LENGTH_AND_LENGTHS: ([u16; 257], [Length; LEN_MAX as usize + 1]) = {
    let mut symbols = [0; 257];
    let mut lengths = [Length { end: 0, first: 0, offset: 0 }; LEN_MAX as usize + 1];
    let (mut len, mut filled) = (LEN_MIN, 0);
    // The first code word of each length follows from the words before it: the code is canonical.
    let mut next = 0;
    while len <= LEN_MAX {
        let length = &mut lengths[len as usize];
        (length.first, length.offset) = (next, filled as u32);
        let mut symbol = 0;
        while symbol < TABLE.len() {
            if TABLE[symbol].len == len {
                symbols[filled] = symbol as u16;
                filled += 1;
                next += 1;
            }
            symbol += 1;
        }
        length.end = (next as u64) << (32 - len);
        next <<= 1;
        len += 1;
    }
    (symbols, lengths)
};

/// The symbols, ordered by the length of their code words and then by value.
static BY_LENGTH: [u16; 257] = BY_LENGTH_AND_LENGTHS.0;
static LENGTHS: [Length; LEN_MAX as usize + 1] = BY_LENGTH_AND_LENGTHS.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huffman::encode;
    use alloc::vec;
    use alloc::vec::Vec;

    fn decoded(coded: &[u8]) -> Result<(Vec<u8>, Bytes), DecodeError> {
        let mut out = vec![0; decoded_len_max(coded.len())];
        let (len, classes) = decode(coded, &mut out)?;
        out.truncate(len);
        Ok((out, classes))
    }

    fn encoded(plain: &[u8]) -> Vec<u8> {
        let mut out = vec![0; plain.len() * 4];
        let len = encode(plain, &mut out).unwrap();
        out.truncate(len);
        out
    }

    #[test]
    fn every_pair_of_bytes_comes_back_with_its_classes() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                for plain in
                    [&[first, second][..], &[b'a', first, second, b'b', b'c', b'd', b'e', b'f', b'g', b'h']]
                {
                    let classes = plain.iter().fold(Bytes::ALL, |all, &byte| all.and(Bytes::of(byte)));
                    assert_eq!(decoded(&encoded(plain)), Ok((plain.to_vec(), classes)), "{plain:?}");
                }
            }
        }
    }

    #[test]
    fn long_runs_of_every_byte_come_back() {
        for byte in 0..=255u8 {
            for len in 0..40 {
                let plain = vec![byte; len];
                assert_eq!(decoded(&encoded(&plain)).map(|(bytes, _)| bytes), Ok(plain));
            }
        }
    }

    #[test]
    fn padding_is_ones_and_shorter_than_an_byte() {
        // `a` is 00011, so three bits of padding follow.
        assert_eq!(decoded(&[0b0001_1111]).map(|(bytes, _)| bytes), Ok(b"a".to_vec()));
        assert_eq!(decoded(&[0b0001_1110]), Err(DecodeError::HUFFMAN_PADDING));
        assert_eq!(decoded(&[0b0001_1011]), Err(DecodeError::HUFFMAN_PADDING));
        assert_eq!(decoded(&[0b0001_1111, 0xff]), Err(DecodeError::HUFFMAN_LONG_PADDING));
        assert_eq!(decoded(&[0xff]), Err(DecodeError::HUFFMAN_LONG_PADDING));
        // The beginning of a long word, and nothing more.
        assert_eq!(decoded(&[0xff, 0xff, 0xfe]), Err(DecodeError::HUFFMAN_PADDING));
    }

    #[test]
    fn the_end_of_string_symbol_is_refused_wherever_it_stands() {
        assert_eq!(decoded(&[0xff; 4]), Err(DecodeError::HUFFMAN_EOS));
        assert_eq!(decoded(&[0xff; 12]), Err(DecodeError::HUFFMAN_EOS));
        let mut coded = encoded(b"aaaaaaaa");
        coded.extend([0xff; 5]);
        assert_eq!(decoded(&coded), Err(DecodeError::HUFFMAN_EOS));
    }
}
