//! What was seen lately: the repeat rule of the encoder.

/// Fingerprints of the last fields that were not found in a table, each in the place its bits choose.
#[derive(Debug)]
pub(crate) struct Seen {
    prints: [u32; COUNT],
}

/// Enough for the changing fields of a few blocks; a field that comes back later than that earns no entry.
const COUNT: usize = 64;

impl Seen {
    pub(crate) const fn new() -> Self {
        Self { prints: [0; COUNT] }
    }

    /// Whether this was seen before; it is remembered.
    ///
    /// Two fields may share a fingerprint: then the second is entered at first sight, which is no mistake.
    #[inline]
    pub(crate) fn again(&mut self, print: u32) -> bool {
        let place = &mut self.prints[print as usize % COUNT];
        // Zero stands for nothing.
        let print = print | 1 << 31;
        core::mem::replace(place, print) == print
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }
}
