//! The values for the holes of a prepared request with many of them, in one call.
//!
//! They are copied into memory that the client lends, so that a call has one pointer to them: calls are moved
//! about while they are built.

use std::ops::Range;

/// The most holes of a prepared request.
pub(crate) const HOLES_MAX: usize = 8;

/// The memory that is kept for the next call's values, in bytes.
const KEPT_BYTES: usize = 4 * 1024;

/// The values, with their places among the bytes.
#[derive(Default)]
pub(crate) struct HoleValues {
    bytes: Vec<u8>,
    places: [Option<Range<usize>>; HOLES_MAX],
}

impl HoleValues {
    /// Sets the value of the hole with this number.
    pub(crate) fn set(&mut self, hole: usize, value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.places[hole] = Some(start..self.bytes.len());
    }

    /// Returns the value of the hole with this number, if it was set.
    pub(crate) fn get(&self, hole: usize) -> Option<&[u8]> {
        let place = self.places[hole].clone()?;
        Some(&self.bytes[place])
    }

    /// Removes the values, and keeps the memory unless it is large.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.places = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_given_last_counts() {
        let mut values = HoleValues::default();
        values.set(1, b"one");
        values.set(0, b"");
        values.set(1, b"other");
        assert_eq!([values.get(0), values.get(1), values.get(2)], [Some(&b""[..]), Some(b"other"), None]);
        values.set(2, &[b'a'; 2 * KEPT_BYTES]);
        values.clear();
        assert_eq!((values.get(1), values.bytes.capacity()), (None, KEPT_BYTES));
    }
}
