//! Random numbers that are the same on every run.

use std::ops::Range;

/// A xorshift* generator: small, quick, good enough to choose test cases, the same everywhere for the same
/// seed.
///
/// ```
/// use alula_testkit::Rng;
///
/// let mut rng = Rng::new(7);
/// let die = rng.range(1..7);
/// assert!((1..7).contains(&die));
/// assert_eq!(Rng::new(7).range(1..7), die);
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed; any will do, also zero.
    pub const fn new(seed: u64) -> Self {
        // The state must not be zero, and near seeds should not begin alike.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d | 1)
    }

    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below the bound; zero when the bound is.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next_u64() as u128 * bound as u128) >> 64) as usize
    }

    /// A number in the range; its start when the range is empty.
    pub fn range(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    /// Returns true if one of so many times has come; never when it is zero.
    pub fn one_in(&mut self, times: usize) -> bool {
        times > 0 && self.below(times) == 0
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        (self.next_u64() >> 56) as u8
    }

    /// So many bytes, any.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// So many bytes out of these.
    ///
    /// # Panics
    /// When there are none to choose from.
    pub fn bytes_of(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len).map(|_| *self.pick(alphabet)).collect()
    }

    /// One of these.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Puts these in another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_range_comes_up_about_as_often() {
        for seed in [0, 1, 2, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
            let (mut rng, mut seen) = (Rng::new(seed), [0_u32; 10]);
            (0..10_000).for_each(|_| seen[rng.below(10)] += 1);
            assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seed}: {seen:?}");
        }
    }

    #[test]
    fn near_seeds_differ_and_the_same_seed_does_not() {
        let first = |seed| Rng::new(seed).next_u64();
        assert!((0..100).all(|seed| first(seed) != first(seed + 1)));
        assert_eq!(Rng::new(3).bytes(100), Rng::new(3).bytes(100));
    }

    #[test]
    fn nothing_to_choose_from() {
        let mut rng = Rng::new(1);
        assert_eq!((rng.below(0), rng.range(5..5), rng.one_in(0)), (0, 5, false));
        assert!(rng.one_in(1));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut items: Vec<u32> = (0..50).collect();
        Rng::new(9).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
