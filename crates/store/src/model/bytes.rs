//! Numbers and bytes in the formats of this crate: whole numbers in groups of seven bits, low ones first, in
//! the fewest bytes.

/// The most bytes that a number of 64 bits takes.
const NUMBER_BYTES_MAX: usize = 10;

/// Appends a number.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns the bytes that a run of bytes takes with its count.
pub(crate) const fn counted_len(len: usize) -> u64 {
    let bits = usize::BITS - (len | 1).leading_zeros();
    len as u64 + bits.div_ceil(7) as u64
}

/// Appends a run of bytes after its count.
pub(crate) fn put_counted(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The bytes of a record or a context that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(crate) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a count of items that take at least `item_bytes_min` bytes each, where `reserved` bytes are for
    /// others. Returns `None` if there cannot be so many, so that room may be made for all of them at once.
    pub(crate) fn count_of(&mut self, item_bytes_min: usize, reserved: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        let free = self.0.len().checked_sub(reserved)?;
        (count <= free / item_bytes_min).then_some(count)
    }

    pub(crate) fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    /// Reads a number; `None` if it is cut off, over 64 bits, or written in more bytes than it needs.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        // Most numbers are lengths below 128.
        match self.0.split_first() {
            Some((byte, rest)) if *byte < 0x80 => {
                self.0 = rest;
                Some(u64::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for group in 0..NUMBER_BYTES_MAX {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits.checked_mul(1 << (7 * group)).filter(|_| group < 9 || bits < 2)?;
            if byte < 0x80 {
                return (byte != 0 || group == 0).then_some(number);
            }
        }
        None
    }

    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(number, &mut out);
        out
    }

    #[test]
    fn numbers_come_back() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        for number in powers.flat_map(|power| [power - 1, power, power + 1]).chain([u64::MAX - 1, u64::MAX]) {
            let out = written(number);
            let mut bytes = Bytes::new(&out);
            assert_eq!(bytes.number(), Some(number));
            assert!(bytes.is_empty(), "{number}");
            for short in 0..out.len() {
                assert_eq!(Bytes::new(&out[..short]).number(), None, "{number} cut to {short}");
            }
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for long in [&[0x80, 0][..], &[0x81, 0], &[0xff, 0x80, 0]] {
            assert_eq!(Bytes::new(long).number(), None, "{long:?}");
        }
        let over = [[0xff; 9].as_slice(), &[2]].concat();
        assert_eq!(Bytes::new(&over).number(), None);
        assert_eq!(Bytes::new(&[0xff; 11]).number(), None);
    }

    #[test]
    fn counted_bytes_end_where_they_say() {
        let mut out = Vec::new();
        put_counted(b"alula", &mut out);
        assert_eq!(Bytes::new(&out).counted(), Some(&b"alula"[..]));
        assert_eq!(Bytes::new(&out[..4]).counted(), None);
        assert_eq!(Bytes::new(&written(u64::MAX)).counted(), None);
    }
}
