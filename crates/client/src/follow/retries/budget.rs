//! The budget of retries: a failing origin gets a tenth more requests, and not a storm.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of retries that are left, in tenths. Relaxed orders suffice, since only the number matters.
pub(crate) struct Budget(AtomicU32);

/// The cost of one retry; each call adds one.
const RETRY: u32 = 10;
/// The most retries at once.
const BURST: u32 = 10;

impl Budget {
    /// Adds a tenth of a retry for a call, up to the most.
    pub(crate) fn bring(&self) {
        let _ = self.0.fetch_update(Relaxed, Relaxed, |left| (left < BURST * RETRY).then_some(left + 1));
    }

    /// Takes one retry; returns false if none is left.
    pub(crate) fn take(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(RETRY)).is_ok()
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU32::new(BURST * RETRY))
    }
}

/// A full budget: each client has its own.
impl Clone for Budget {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_at_once_and_a_tenth_of_the_calls() {
        let budget = Budget::default();
        let taken = |budget: &Budget| (0..1000).take_while(|_| budget.take()).count();
        assert_eq!(taken(&budget), 10);
        (0..9).for_each(|_| budget.bring());
        assert_eq!(taken(&budget), 0);
        budget.bring();
        assert_eq!(taken(&budget), 1);
        (0..1000).for_each(|_| budget.bring());
        assert_eq!(taken(&budget), 10);
        assert_eq!(taken(&budget.clone()), 10);
    }
}
