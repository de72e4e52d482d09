//! The decision whether to remember a head or section, by how often the last ones repeated.

/// The misses in a row after which only few items are remembered.
const TRIES: u8 = 4;
/// The misses between two items that are still remembered.
const STRIDE: u8 = 16;

/// Counts how often in a row a remembered item did not repeat: remembering costs a copy, and some peers never
/// repeat themselves. The first item of a connection is not remembered, since many connections have no
/// second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RepeatOdds {
    misses: u8,
    has_begun: bool,
}

impl RepeatOdds {
    /// Records that the remembered item has repeated.
    #[inline]
    pub(crate) fn was_good(&mut self) {
        self.misses = 0;
    }

    /// Records that the remembered item has not repeated. Returns true if the new one is to be remembered.
    #[inline]
    pub(crate) fn tries(&mut self) -> bool {
        if !core::mem::replace(&mut self.has_begun, true) {
            return false;
        }
        self.misses += 1;
        if self.misses == TRIES + STRIDE {
            self.misses = TRIES;
        }
        self.misses <= TRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_repeats_itself_is_remembered_now_and_then() {
        let mut luck = RepeatOdds::default();
        assert!(!luck.tries(), "the first is let pass");
        let kept = |luck: &mut RepeatOdds, times: usize| (0..times).filter(|_| luck.tries()).count();
        assert_eq!(kept(&mut luck, 4), 4);
        assert_eq!(kept(&mut luck, 16 * 100), 100);
        luck.was_good();
        assert_eq!(kept(&mut luck, 4), 4);
    }
}
