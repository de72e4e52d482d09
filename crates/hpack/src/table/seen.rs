//! The fields that were seen lately: the repeat rule of the encoder.

/// Fingerprints of the last fields that were not found in a table; the newest takes the place of the oldest.
#[derive(Debug)]
pub(crate) struct Seen {
    prints: [u32; COUNT],
    next: u8,
}

/// Enough for the fields of a few blocks; a field that comes back later than that earns no entry.
const COUNT: usize = 64;

impl Seen {
    pub(crate) const fn new() -> Self {
        Self { prints: [0; COUNT], next: 0 }
    }

    /// Returns true if this was seen before; it is remembered.
    ///
    /// Two fields may share a fingerprint: then the second is entered at first sight, which is no mistake.
    #[inline]
    pub(crate) fn again(&mut self, print: u32) -> bool {
        // Zero stands for nothing.
        let print = print | 1;
        if self.holds(print) {
            return true;
        }
        self.prints[usize::from(self.next) % COUNT] = print;
        self.next = self.next.wrapping_add(1);
        false
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }

    /// Looks at all of them without a branch, which the compiler turns into a few wide comparisons.
    #[inline]
    fn holds(&self, print: u32) -> bool {
        self.prints.iter().fold(false, |found, &own| found | (own == print))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sixty_four_are_remembered() {
        let mut seen = Seen::new();
        for print in 1..=200u32 {
            assert!(!seen.again(print * 2), "{print}");
        }
        for print in 137..=200 {
            assert!(seen.again(print * 2), "{print}");
        }
        assert!(!seen.again(136 * 2));
        assert!(!seen.again(138 * 2 + 400));
        seen.reset();
        assert!(!seen.again(200 * 2));
    }
}
