//! Sketches of sets by HyperLogLog: how many different elements were added, in memory that does not grow with
//! them.
//!
//! Elements are hashed by XXH64 with seed 0. The first bits of a hash choose a register; the register keeps
//! the most zeros, plus one, that the rest of a hash began with. The estimate is the one by Ertl, "New
//! cardinality estimation algorithms for HyperLogLog sketches" (2017), §3.

use std::cmp::Reverse;
use std::mem::take;

use twox_hash::XxHash64;

use crate::model::bytes::{Bytes, put_number};

/// The fewest bytes of a register in stored form.
const RAISED_BYTES_MIN: usize = 2;

/// The number of bits of a hash that choose a register, 4 to 16: the standard error of an estimate is 1.04 /
/// √(2^bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision(u8);

impl Precision {
    /// Creates the precision of this many bits; `None` below 4 and above 16.
    pub const fn new(bits: u8) -> Option<Self> {
        if bits < 4 || bits > 16 {
            return None;
        }
        Some(Self(bits))
    }

    /// Returns the bits that choose a register.
    pub const fn bits(self) -> u8 {
        self.0
    }

    const fn registers(self) -> usize {
        1 << self.0
    }

    /// Returns true if a list of so many raised registers takes no more memory than all registers.
    const fn lists(self, raised: usize) -> bool {
        raised * size_of::<Raised>() <= self.registers()
    }

    /// Returns the greatest number of a register.
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

/// The registers of a sketch: a list of the raised ones while that is shorter, which it is for few elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch {
    precision: Precision,
    registers: Registers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Registers {
    /// The raised registers, ascending.
    Raised(Vec<Raised>),
    /// The ranks of all registers.
    All(Vec<u8>),
}

/// A register with its rank, which is above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Raised {
    register: u16,
    rank: u8,
}

impl Raised {
    /// Returns the register that an element raises.
    fn by(element: &[u8], precision: Precision) -> Self {
        let hash = XxHash64::oneshot(0, element);
        let bits = u32::from(precision.0);
        let rank = ((hash << bits).leading_zeros() as u8 + 1).min(precision.rank_max());
        // 16 bits at most choose a register.
        Self { register: (hash >> (64 - bits)) as u16, rank }
    }

    /// Returns the register that the same elements raise at a lower precision.
    const fn reduced(self, bits: u8) -> Self {
        // The bits that chose the register and no longer do come before those that were counted.
        let dropped = self.register as u32 & ((1 << bits) - 1);
        let rank = match dropped {
            0 => bits + self.rank,
            _ => bits - dropped.ilog2() as u8,
        };
        Self { register: (self.register as u32 >> bits) as u16, rank }
    }
}

impl Sketch {
    pub(super) const fn new(precision: Precision) -> Self {
        Self { precision, registers: Registers::Raised(Vec::new()) }
    }

    /// Returns the precision of the estimate.
    pub(super) const fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the estimate, rounded: exact for few elements.
    pub(super) fn estimate(&self) -> u64 {
        let registers = self.precision.registers() as f64;
        let mut counts = [0u32; 64];
        self.raised().for_each(|raised| counts[usize::from(raised.rank)] += 1);
        counts[0] = self.precision.registers() as u32 - counts.iter().sum::<u32>();
        let full = usize::from(self.precision.rank_max());
        let mut sum = registers * tau(1.0 - f64::from(counts[full]) / registers);
        for count in counts[1..full].iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += registers * sigma(f64::from(counts[0]) / registers);
        (registers * registers / (2.0 * std::f64::consts::LN_2 * sum)).round() as u64
    }

    /// Adds elements.
    pub(super) fn add<'e>(&mut self, elements: impl Iterator<Item = &'e [u8]>) {
        let precision = self.precision;
        self.raise(elements.map(|element| Raised::by(element, precision)));
    }

    /// Returns the raised registers, ascending.
    fn raised(&self) -> impl Iterator<Item = Raised> {
        let (raised, all) = match &self.registers {
            Registers::Raised(raised) => (&raised[..], &[][..]),
            Registers::All(all) => (&[][..], &all[..]),
        };
        let all = all.iter().zip(0u16..=u16::MAX).filter(|(rank, _)| **rank > 0);
        raised.iter().copied().chain(all.map(|(rank, register)| Raised { register, rank: *rank }))
    }

    /// Raises registers to at least these ranks.
    fn raise(&mut self, more: impl Iterator<Item = Raised>) {
        match &mut self.registers {
            Registers::All(all) => raise(all, more),
            Registers::Raised(raised) => {
                raised.extend(more);
                raised.sort_unstable_by_key(|raised| (raised.register, Reverse(raised.rank)));
                raised.dedup_by_key(|raised| raised.register);
                if self.precision.lists(raised.len()) {
                    raised.shrink_to_fit();
                } else {
                    let mut all = vec![0; self.precision.registers()];
                    raise(&mut all, take(raised).into_iter());
                    self.registers = Registers::All(all);
                }
            }
        }
    }

    /// Lowers the precision, with the same result as if it had been lower from the start. A greater precision
    /// changes nothing.
    pub(super) fn reduce(&mut self, precision: Precision) {
        if precision >= self.precision {
            return;
        }
        let bits = self.precision.0 - precision.0;
        let mut reduced = Self::new(precision);
        reduced.raise(self.raised().map(|raised| raised.reduced(bits)));
        *self = reduced;
    }

    /// Merges sketches at the lowest precision of all, in one step however many they are.
    pub(super) fn merge<'a>(&mut self, others: impl Iterator<Item = &'a Self> + Clone) {
        others.clone().for_each(|other| self.reduce(other.precision));
        let precision = self.precision;
        self.raise(others.flat_map(|other| {
            let bits = other.precision.0 - precision.0;
            other.raised().map(move |raised| if bits == 0 { raised } else { raised.reduced(bits) })
        }));
    }

    /// Appends the precision, the number of registers that are not 0, and each of these after its distance
    /// from the one before.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.precision.0);
        put_number(self.raised().count() as u64, out);
        let mut next = 0;
        for Raised { register, rank } in self.raised() {
            put_number(u64::from(register) - next, out);
            out.push(rank);
            next = u64::from(register) + 1;
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let precision = Precision::new(bytes.byte()?)?;
        let count = bytes.count_of(RAISED_BYTES_MIN, 0).filter(|count| *count <= precision.registers())?;
        if precision.lists(count) {
            let mut raised = Vec::with_capacity(count);
            read_raised(bytes, precision, count, |one| raised.push(one))?;
            return Some(Self { precision, registers: Registers::Raised(raised) });
        }
        let mut all = vec![0; precision.registers()];
        read_raised(bytes, precision, count, |one| all[usize::from(one.register)] = one.rank)?;
        Some(Self { precision, registers: Registers::All(all) })
    }
}

fn raise(all: &mut [u8], more: impl Iterator<Item = Raised>) {
    for Raised { register, rank } in more {
        let own = &mut all[usize::from(register)];
        *own = rank.max(*own);
    }
}

fn read_raised(
    bytes: &mut Bytes<'_>,
    precision: Precision,
    count: usize,
    mut keep: impl FnMut(Raised),
) -> Option<()> {
    let mut next = 0u64;
    for _ in 0..count {
        let register = next.checked_add(bytes.number()?)?;
        let rank = bytes.byte().filter(|rank| (1..=precision.rank_max()).contains(rank))?;
        if register >= precision.registers() as u64 {
            return None;
        }
        keep(Raised { register: register as u16, rank });
        next = register + 1;
    }
    Some(())
}

/// Returns the part of the sum for registers without an element.
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

/// Returns the part of the sum for registers at their greatest number.
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
        let elements: Vec<_> = elements.map(|element| element.to_be_bytes().to_vec()).collect();
        sketch.add(elements.iter().map(Vec::as_slice));
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
        merged.merge([with(precision(10), 2_000..5_000)].iter());
        assert_eq!(merged, with(precision(10), 0..5_000));
    }

    #[test]
    fn counts_come_back() {
        for count in [0, 1, 500, 100_000] {
            let sketch = with(Precision::default(), 0..count);
            let mut kept = Vec::new();
            sketch.put(&mut kept);
            assert_eq!(Sketch::read(&mut Bytes::new(&kept)), Some(sketch));
            assert_eq!(Sketch::read(&mut Bytes::new(&kept[..kept.len() - 1])), None);
        }
    }
}
