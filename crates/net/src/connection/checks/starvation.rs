//! The time for which responses that nobody reads have held the whole window of a client's connection (RFC
//! 9113 §6.9.1).

use std::time::Duration;

use alula_machine::Time;

#[derive(Default)]
pub(crate) struct Starvation {
    since: Option<Time>,
    longest: Option<Duration>,
}

impl Starvation {
    /// Sets the time that callers may wait.
    pub(crate) fn allow(&mut self, longest: Duration) {
        self.longest = Some(longest);
    }

    /// Returns the time that callers may wait, if there is a bound.
    #[inline]
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// Records whether a caller is waiting in vain. Returns true if that has lasted too long, after which it
    /// begins anew.
    pub(crate) fn look(&mut self, is_starving: bool, now: Time) -> bool {
        let Some(longest) = self.longest.filter(|_| is_starving) else {
            self.since = None;
            return false;
        };
        let since = *self.since.get_or_insert(now);
        let is_too_long = now.saturating_since(since) >= longest;
        if is_too_long {
            self.since = None;
        }
        is_too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_too_long_when_it_was_in_vain_all_the_time() {
        let at = |seconds| Time::ZERO.saturating_add(Duration::from_secs(seconds));
        let mut starvation = Starvation::default();
        assert!(!starvation.look(true, at(0)) && !starvation.look(true, at(100)), "there is no bound");
        starvation.allow(Duration::from_secs(10));
        assert!(!starvation.look(true, at(100)) && !starvation.look(false, at(109)));
        assert!(
            !starvation.look(true, at(110))
                && starvation.look(true, at(120))
                && !starvation.look(true, at(121))
        );
    }
}
