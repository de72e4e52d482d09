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

impl Decimal {
    /// The digits of this number, without leading zeros.
    pub fn of(mut number: u64) -> Self {
        let mut decimal = Self { digits: [0; 20], start: 20 };
        loop {
            decimal.start -= 1;
            decimal.digits[decimal.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return decimal;
            }
        }
    }

    /// The digits as ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use alloc::string::ToString;

    #[test]
    fn writes_what_the_standard_library_writes() {
        for number in [0, 1, 9, 10, 99, 100, 102_400, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(Decimal::of(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
