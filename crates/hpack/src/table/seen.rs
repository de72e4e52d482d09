//! The recently sent fields, for the encoder's repeat policy.

/// Fingerprints of the last fields that were in no table; a new one replaces the oldest.
#[derive(Debug)]
pub(crate) struct Seen {
    prints: [u32; COUNT],
    next: u8,
}

/// The number of fingerprints: the fields of a few blocks; a field that repeats later earns no entry.
const COUNT: usize = 64;

impl Seen {
    pub(crate) const fn new() -> Self {
        Self { prints: [0; COUNT], next: 0 }
    }

    /// Returns true if this field was sent before, and remembers it.
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

    /// Searches all fingerprints without a branch, in a few wide comparisons.
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
