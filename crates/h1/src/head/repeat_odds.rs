//! Whether it is worth remembering something on the chance that it comes again.

/// After so many in a row that did not come again, few are remembered.
const TRIES: u8 = 4;
/// One in so many, then.
const STRIDE: u8 = 16;

/// How often in a row what was remembered did not come again: to remember costs a copy, and some peers never
/// repeat themselves. The first of a connection is not remembered, since many connections have no second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RepeatOdds {
    misses: u8,
    has_begun: bool,
}

impl RepeatOdds {
    /// What was remembered has come again.
    #[inline]
    pub(crate) fn was_good(&mut self) {
        self.misses = 0;
    }

    /// What was remembered has not come again; whether to remember what came instead.
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
