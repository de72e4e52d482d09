//! Numbers as decimal text, without the heap.

/// The decimal digits of a number, as `content-length` has them (RFC 9110 §8.6). Allocates nothing.
///
/// ```
/// assert_eq!(alula::fields::Decimal::of(1024).as_bytes(), b"1024");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    digits: [u8; 20],
    start: usize,
}

/// The digits of 0 to 99, two for each: a division yields two at once.
static PAIRS: [[u8; 2]; 100] = pairs();

impl Decimal {
    /// Returns the digits of this number, without leading zeros.
    pub fn of(mut number: u64) -> Self {
        let mut decimal = Self { digits: [0; 20], start: 20 };
        while number >= 100 {
            decimal.put_pair((number % 100) as usize);
            number /= 100;
        }
        decimal.put_pair(number as usize);
        decimal.start += usize::from(number < 10);
        decimal
    }

    #[inline]
    fn put_pair(&mut self, below_100: usize) {
        self.start -= 2;
        self.digits[self.start..self.start + 2].copy_from_slice(&PAIRS[below_100]);
    }

    /// Returns the digits as ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use alloc::string::ToString;

    #[test]
    fn writes_what_the_standard_library_writes() {
        for number in
            (0..2_000).chain([9_999, 10_000, 99_999, 102_400, u64::from(u32::MAX), u64::MAX - 1, u64::MAX])
        {
            assert_eq!(Decimal::of(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
