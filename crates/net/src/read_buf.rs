//! What was read and not used yet.

/// Initialised octets with the unread part in the middle.
#[derive(Default)]
pub(crate) struct ReadBuf {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuf {
    /// At least `at_least` octets of room after what is filled.
    pub(crate) fn space(&mut self, at_least: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < at_least && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < at_least {
            self.bytes.resize(self.end + at_least, 0);
        }
        &mut self.bytes[self.end..]
    }

    pub(crate) fn filled(&mut self, octets: usize) {
        self.end += octets;
        debug_assert!(self.end <= self.bytes.len());
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn consume(&mut self, octets: usize) {
        self.start += octets;
        debug_assert!(self.start <= self.end);
    }

    /// The octets it holds, filled or not.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn trim(&mut self) {
        if self.start == self.end {
            *self = Self::default();
        }
    }
}
