//! From Huffman code to octets.
//!
//! A step looks at the next [`STEP`] bits and finds one or two octets in a table, with the classes both belong to. Code
//! words longer than that are rare octets; they are found by their length, which works because the code is
//! canonical. So the cost is linear in the length of the code, whatever it holds.

use super::codes::{LEN_MAX, LEN_MIN, TABLE};
use crate::class::Octets;
use crate::error::DecodeError;

/// Bits a step looks at: any two of the 36 commonest octets fit into twelve, and the table into half of an L1 cache.
const STEP: u32 = 12;

/// More octets than this never come of `coded` octets of code; the decoder needs this much room.
#[inline]
pub(crate) const fn decoded_len_max(coded: usize) -> usize {
    // One octet takes five bits at least; a step may write one octet beyond the last.
    coded * 8 / LEN_MIN as usize + 2
}

/// Decodes `coded` to the start of `out`; says how many octets came out and which classes all of them are in.
///
/// `out` has room for [`decoded_len_max`].
#[inline]
pub(crate) fn decode(coded: &[u8], out: &mut [u8]) -> Result<(usize, Octets), DecodeError> {
    let mut bits = Bits { window: 0, held: 0 };
    let (mut rest, mut at, mut all) = (coded, 0, u32::MAX);
    while let Some((word, _)) = rest.split_first_chunk::<8>() {
        rest = &rest[bits.refill(u64::from_be_bytes(*word))..];
        // At least 56 bits are held: four steps.
        for _ in 0..4 {
            let step = STEPS[bits.index()];
            if step.bits() == 0 {
                break;
            }
            bits.drop(step.bits());
            out[at..at + 2].copy_from_slice(&step.octets());
            at += step.count();
            all &= step.0;
        }
        if STEPS[bits.index()].bits() == 0 && bits.held >= u32::from(LEN_MAX) {
            let octet = bits.long()?;
            out[at] = octet;
            at += 1;
            all &= Octets::of(octet).to_step();
        }
    }
    let (at, tail) = decode_tail(bits, rest, out, at)?;
    Ok((at, Octets::from_step(all & tail)))
}

/// The last octets of a string: where a step must not take the padding for an octet.
fn decode_tail(
    mut bits: Bits,
    mut rest: &[u8],
    out: &mut [u8],
    mut at: usize,
) -> Result<(usize, u32), DecodeError> {
    let mut all = u32::MAX;
    loop {
        while bits.held <= 56
            && let Some((&octet, after)) = rest.split_first()
        {
            bits.window |= u64::from(octet) << (56 - bits.held);
            bits.held += 8;
            rest = after;
        }
        let (step, padded) = bits.step_before_padding();
        if step.bits() != 0 && step.bits() <= bits.held {
            bits.drop(step.bits());
            out[at..at + 2].copy_from_slice(&step.octets());
            at += step.count();
            all &= step.0;
            continue;
        }
        let octet = if step.bits() != 0 && step.first_bits() <= bits.held {
            bits.drop(step.first_bits());
            step.octets()[0]
        } else if bits.held < 8 && padded == u64::MAX {
            return Ok((at, all));
        } else {
            bits.long()?
        };
        out[at] = octet;
        at += 1;
        all &= Octets::of(octet).to_step();
    }
}

/// Bits read but not decoded: the `held` highest of `window`. Those below are zero or what follows in the code.
struct Bits {
    window: u64,
    held: u32,
}

impl Bits {
    /// Takes as many whole octets of `word` as there is room for and says how many.
    #[inline(always)]
    fn refill(&mut self, word: u64) -> usize {
        self.window |= word >> self.held;
        let taken = (63 - self.held) / 8;
        self.held += taken * 8;
        taken as usize
    }

    #[inline(always)]
    fn drop(&mut self, bits: u32) {
        self.window <<= bits;
        self.held -= bits;
    }

    #[inline(always)]
    fn index(&self) -> usize {
        (self.window >> (64 - STEP)) as usize
    }

    /// The step for the bits held, as if ones without end followed them; and these bits.
    fn step_before_padding(&self) -> (Step, u64) {
        let padded = self.padded();
        (STEPS[(padded >> (64 - STEP)) as usize], padded)
    }

    fn padded(&self) -> u64 {
        self.window | u64::MAX.checked_shr(self.held).unwrap_or(0)
    }

    /// An octet whose code word is longer than a step.
    #[cold]
    fn long(&mut self) -> Result<u8, DecodeError> {
        let padded = self.padded();
        let mut len = LEN_MIN as usize;
        while len <= LEN_MAX as usize {
            let word = (padded >> (64 - len)) as u32;
            let row = LENGTHS[len];
            if word.wrapping_sub(row.first) < u32::from(row.count) {
                break;
            }
            len += 1;
        }
        let row = LENGTHS[len];
        if len as u32 > self.held {
            return Err(self.bad_padding());
        }
        let word = (padded >> (64 - len)) as u32;
        let symbol = BY_LENGTH[usize::from(row.offset) + (word - row.first) as usize];
        self.drop(len as u32);
        u8::try_from(symbol).map_err(|_| DecodeError::HUFFMAN_EOS)
    }

    /// What is wrong with bits that are neither an octet nor padding.
    fn bad_padding(&self) -> DecodeError {
        if self.padded() == u64::MAX {
            DecodeError::HUFFMAN_LONG_PADDING
        } else {
            DecodeError::HUFFMAN_PADDING
        }
    }
}

/// What one step finds: bits 0–7 the first octet, 8–15 the second or zero, 16–19 the bits of all octets found (zero: the
/// code word is longer than a step), 20–23 the bits of the first octet, 24–25 the number of octets, 26–27 the classes of all.
#[derive(Clone, Copy)]
struct Step(u32);

impl Step {
    const LONG: Self = Self(0);

    const fn one(octet: u8, len: u8) -> Self {
        let classes = Octets::of(octet).to_step();
        Self(octet as u32 | (len as u32) << 16 | (len as u32) << 20 | 1 << 24 | (classes & CLASSES))
    }

    /// This octet and then that one.
    const fn two(self, second: Self) -> Self {
        let bits = self.bits() + second.bits();
        let classes = self.0 & second.0 & CLASSES;
        Self((self.0 & 0xff) | (second.0 & 0xff) << 8 | bits << 16 | self.bits() << 20 | 2 << 24 | classes)
    }

    #[inline(always)]
    const fn octets(self) -> [u8; 2] {
        (self.0 as u16).to_le_bytes()
    }

    #[inline(always)]
    const fn bits(self) -> u32 {
        self.0 >> 16 & 15
    }

    const fn first_bits(self) -> u32 {
        self.0 >> 20 & 15
    }

    #[inline(always)]
    const fn count(self) -> usize {
        (self.0 >> 24 & 3) as usize
    }
}

const CLASSES: u32 = 3 << CLASS_SHIFT;
const CLASS_SHIFT: u32 = 26;

impl Octets {
    /// The classes where a step has them; all other bits are ones, so that sets of classes can be intersected by `&`.
    const fn to_step(self) -> u32 {
        (self.bits() as u32) << CLASS_SHIFT | !CLASSES
    }

    const fn from_step(step: u32) -> Self {
        Self::from_bits((step >> CLASS_SHIFT & 3) as u8)
    }
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

/// The code words of one length: the first, how many there are, and where they begin in [`BY_LENGTH`].
#[derive(Clone, Copy)]
struct Length {
    first: u32,
    count: u16,
    offset: u16,
}

const BY_LENGTH_AND_LENGTHS: ([u16; 257], [Length; LEN_MAX as usize + 1]) = {
    let mut symbols = [0; 257];
    let mut lengths = [Length { first: 0, count: 0, offset: 0 }; LEN_MAX as usize + 1];
    let (mut len, mut filled) = (LEN_MIN, 0);
    while len <= LEN_MAX {
        lengths[len as usize].offset = filled as u16;
        let mut symbol = 0;
        while symbol < TABLE.len() {
            if TABLE[symbol].len == len {
                if lengths[len as usize].count == 0 {
                    lengths[len as usize].first = TABLE[symbol].bits;
                }
                lengths[len as usize].count += 1;
                symbols[filled] = symbol as u16;
                filled += 1;
            }
            symbol += 1;
        }
        len += 1;
    }
    (symbols, lengths)
};

/// All symbols, ordered by the length of their code words and then by value.
static BY_LENGTH: [u16; 257] = BY_LENGTH_AND_LENGTHS.0;
static LENGTHS: [Length; LEN_MAX as usize + 1] = BY_LENGTH_AND_LENGTHS.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huffman::encode;
    use alloc::vec;
    use alloc::vec::Vec;

    fn decoded(coded: &[u8]) -> Result<(Vec<u8>, Octets), DecodeError> {
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
    fn every_pair_of_octets_comes_back_with_its_classes() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                for plain in
                    [&[first, second][..], &[b'a', first, second, b'b', b'c', b'd', b'e', b'f', b'g', b'h']]
                {
                    let classes = plain.iter().fold(Octets::ALL, |all, &octet| all.and(Octets::of(octet)));
                    assert_eq!(decoded(&encoded(plain)), Ok((plain.to_vec(), classes)), "{plain:?}");
                }
            }
        }
    }

    #[test]
    fn long_runs_of_every_octet_come_back() {
        for octet in 0..=255u8 {
            for len in 0..40 {
                let plain = vec![octet; len];
                assert_eq!(decoded(&encoded(&plain)).map(|(octets, _)| octets), Ok(plain));
            }
        }
    }

    #[test]
    fn padding_is_ones_and_shorter_than_an_octet() {
        // `a` is 00011, so three bits of padding follow.
        assert_eq!(decoded(&[0b0001_1111]).map(|(octets, _)| octets), Ok(b"a".to_vec()));
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
