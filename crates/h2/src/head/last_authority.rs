//! The last valid authority, which the next one usually equals.

use alloc::vec::Vec;

/// Remembers an authority from the second one on: many connections have one request, and pay nothing.
#[derive(Debug, Default)]
pub(crate) struct LastAuthority {
    bytes: Vec<u8>,
    has_first: bool,
}

impl LastAuthority {
    /// Returns true if this is the remembered authority.
    #[inline]
    pub(crate) fn is(&self, authority: &[u8]) -> bool {
        !authority.is_empty() && authority == self.bytes.as_slice()
    }

    /// Records a valid authority.
    pub(crate) fn note(&mut self, authority: &[u8]) {
        if core::mem::replace(&mut self.has_first, true) {
            self.bytes.clear();
            self.bytes.extend_from_slice(authority);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_authority_is_remembered_and_the_first_is_not() {
        let mut last = LastAuthority::default();
        last.note(b"a.example");
        assert!(!last.is(b"a.example") && !last.is(b""));
        last.note(b"a.example");
        assert!(last.is(b"a.example") && !last.is(b"b.example"));
        last.note(b"b.example");
        assert!(last.is(b"b.example") && !last.is(b"a.example"));
    }
}
