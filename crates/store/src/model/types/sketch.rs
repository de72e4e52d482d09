//! Sketches of sets by HyperLogLog: how many different elements were added, in memory that does not grow with them.
//!
//! Elements are hashed by XXH64 with seed 0. The first bits of a hash choose a register; the register keeps the most zeros, plus one, that
//! the rest of a hash began with. The estimate is the one by Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), §3.

use twox_hash::XxHash64;

use crate::model::octets::{Octets, put_number};

/// The number of bits of a hash that choose a register, 4 to 16: the standard error of an estimate is 1.04 / √(2^bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision(u8);

impl Precision {
    /// The precision of this many bits, or `None` below 4 and above 16.
    pub const fn new(bits: u8) -> Option<Self> {
        if bits < 4 || bits > 16 {
            return None;
        }
        Some(Self(bits))
    }

    /// The bits that choose a register.
    pub const fn bits(self) -> u8 {
        self.0
    }

    const fn registers(self) -> usize {
        1 << self.0
    }

    /// The greatest number of a register.
    const fn rank_max(self) -> u8 {
        64 - self.0 + 1
    }
}

/// 14 bits: 16 384 registers, an error of 0.8 %.
impl Default for Precision {
    fn default() -> Self {
        Self(14)
    }
}

/// The registers of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch {
    precision: Precision,
    registers: Vec<u8>,
}

impl Sketch {
    pub(super) fn new(precision: Precision) -> Self {
        Self { precision, registers: vec![0; precision.registers()] }
    }

    /// The precision of the estimate.
    pub(super) const fn precision(&self) -> Precision {
        self.precision
    }

    /// The estimate, rounded: exact for few elements.
    pub(super) fn estimate(&self) -> u64 {
        let registers = self.registers.len() as f64;
        let mut counts = [0u32; 64];
        self.registers.iter().for_each(|rank| counts[usize::from(*rank)] += 1);
        let full = usize::from(self.precision.rank_max());
        let mut sum = registers * tau(1.0 - f64::from(counts[full]) / registers);
        for count in counts[1..full].iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += registers * sigma(f64::from(counts[0]) / registers);
        (registers * registers / (2.0 * std::f64::consts::LN_2 * sum)).round() as u64
    }

    pub(super) fn add(&mut self, element: &[u8]) {
        let hash = XxHash64::oneshot(0, element);
        let bits = u32::from(self.precision.0);
        let register = (hash >> (64 - bits)) as usize;
        let rank = ((hash << bits).leading_zeros() as u8 + 1).min(self.precision.rank_max());
        self.raise(register, rank);
    }

    fn raise(&mut self, register: usize, rank: u8) {
        let own = &mut self.registers[register];
        *own = rank.max(*own);
    }

    /// Keeps fewer registers, as if elements had been added with this precision from the start. A greater precision changes nothing.
    pub(super) fn reduce(&mut self, precision: Precision) {
        if precision >= self.precision {
            return;
        }
        let bits = self.precision.0 - precision.0;
        let mut reduced = Self::new(precision);
        for (register, rank) in self.registers.iter().enumerate().filter(|(_, rank)| **rank > 0) {
            // The bits that chose the register and no longer do come before those that were counted.
            let dropped = register & ((1 << bits) - 1);
            let rank = match dropped {
                0 => bits + rank,
                _ => bits - dropped.ilog2() as u8,
            };
            reduced.raise(register >> bits, rank);
        }
        *self = reduced;
    }

    /// Merges two sketches at the lower precision of both.
    pub(super) fn merge(&mut self, other: &Self) {
        self.reduce(other.precision);
        let mut reduced = other.clone();
        reduced.reduce(self.precision);
        for (register, rank) in reduced.registers.into_iter().enumerate() {
            self.raise(register, rank);
        }
    }

    /// Appends the precision, the count of registers that are not 0, and each of them after its distance to the one before.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.precision.0);
        let raised = || self.registers.iter().enumerate().filter(|(_, rank)| **rank > 0);
        put_number(raised().count() as u64, out);
        let mut next = 0;
        for (register, rank) in raised() {
            put_number((register - next) as u64, out);
            out.push(*rank);
            next = register + 1;
        }
    }

    pub(super) fn read(octets: &mut Octets<'_>) -> Option<Self> {
        let mut sketch = Self::new(Precision::new(octets.octet()?)?);
        let mut next = 0usize;
        for _ in 0..octets.number()? {
            let register = next.checked_add(usize::try_from(octets.number()?).ok()?)?;
            let rank = octets.octet().filter(|rank| (1..=sketch.precision.rank_max()).contains(rank))?;
            *sketch.registers.get_mut(register)? = rank;
            next = register + 1;
        }
        Some(sketch)
    }
}

/// Returns the part of the sum that registers without an element add.
fn sigma(mut share: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, share);
    loop {
        share *= share;
        let last = sum;
        sum += share * factor;
        factor += factor;
        if sum == last {
            return sum;
        }
    }
}

/// Returns the part of the sum that registers at their greatest number take away.
fn tau(mut share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - share);
    loop {
        share = share.sqrt();
        let last = sum;
        factor *= 0.5;
        sum -= (1.0 - share) * (1.0 - share) * factor;
        if sum == last {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(precision: Precision, elements: std::ops::Range<u32>) -> Sketch {
        let mut sketch = Sketch::new(precision);
        elements.for_each(|element| sketch.add(&element.to_be_bytes()));
        sketch
    }

    fn precision(bits: u8) -> Precision {
        Precision::new(bits).expect("4 to 16")
    }

    #[test]
    fn a_handful_is_counted_exactly() {
        for count in 0..=20 {
            assert_eq!(with(Precision::default(), 0..count).estimate(), u64::from(count));
        }
    }

    #[test]
    fn estimates_are_within_four_standard_errors() {
        for bits in [4, 10, 14, 16] {
            for count in [100, 10_000, 300_000] {
                let estimate = with(precision(bits), 0..count).estimate() as f64;
                let error = 1.04 / f64::from(1u32 << bits).sqrt();
                let off = (estimate / f64::from(count) - 1.0).abs();
                assert!(off < 4.0 * error, "{bits} bits, {count}: {estimate}");
            }
        }
    }

    #[test]
    fn a_reduced_count_is_the_one_that_began_so() {
        for bits in [4, 9, 13] {
            let mut reduced = with(precision(14), 0..50_000);
            reduced.reduce(precision(bits));
            assert_eq!(reduced, with(precision(bits), 0..50_000), "{bits}");
        }
    }

    #[test]
    fn merged_counts_are_the_count_of_all() {
        let mut merged = with(precision(12), 0..3_000);
        merged.merge(&with(precision(10), 2_000..5_000));
        assert_eq!(merged, with(precision(10), 0..5_000));
    }

    #[test]
    fn counts_come_back() {
        for count in [0, 1, 500, 100_000] {
            let sketch = with(Precision::default(), 0..count);
            let mut kept = Vec::new();
            sketch.put(&mut kept);
            assert_eq!(Sketch::read(&mut Octets::new(&kept)), Some(sketch));
            assert_eq!(Sketch::read(&mut Octets::new(&kept[..kept.len() - 1])), None);
        }
    }
}
