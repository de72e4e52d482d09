//! The seeded numbers by which replicas go wrong: the same on every run.

/// A SplitMix64 generator.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number, any at all.
    pub(super) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let number = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Returns a number below `bound`, which is not zero.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// Returns true once in so many times; never when it is zero.
    pub(super) const fn once_in(&mut self, times: u32) -> bool {
        times != 0 && self.below(times as u64) == 0
    }

    /// Puts these in another order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_order() {
        let shuffled = |seed| {
            let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
            Chance::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
    }

    #[test]
    fn nothing_happens_once_in_zero_times() {
        let mut chance = Chance::new(1);
        assert!((0..100).all(|_| !chance.once_in(0) && chance.once_in(1)));
    }
}
