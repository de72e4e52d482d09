//! The choices that a loss of power makes, all of them by a seed.

use alula_testkit::Rng;

/// The order in which names come to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// One order for all folders, and any flush brings all up to its own.
    Ordered,
    /// An order for each folder, and a flush brings the names in a folder, or those of a file and of the
    /// folders above it.
    PerFolder,
}

/// The effect of flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flushes {
    /// They keep what was written before them.
    #[default]
    Kept,
    /// They do nothing, as if the program had none: to see that a check notices it.
    Ignored,
    /// Those of files whose paths end so do nothing.
    IgnoredOf(&'static str),
}

/// A loss of power.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    seed: u64,
    names: Names,
}

/// The part of the unflushed changes of a file that is there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    All,
    None,
    /// Those before one, of which any blocks are there.
    First,
    /// Each block after any of them.
    Blocks,
}

impl Flushes {
    pub(crate) fn are_ignored(self, path: &str) -> bool {
        match self {
            Self::Kept => false,
            Self::Ignored => true,
            Self::IgnoredOf(end) => path.ends_with(end),
        }
    }
}

impl Loss {
    /// The loss of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let names = if random(seed, [0, 0]).is_multiple_of(2) { Names::Ordered } else { Names::PerFolder };
        Self { seed, names }
    }

    /// The order in which names come to the disk.
    #[must_use]
    pub const fn names(&self) -> Names {
        self.names
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// The part of the changes of a file that is there. Every third loss has the same for all files.
    pub(crate) fn part(&self, file: usize) -> Part {
        let file = if random(self.seed, [1, 0]).is_multiple_of(3) { 0 } else { file as u64 + 1 };
        [Part::All, Part::None, Part::First, Part::Blocks][pick(self.seed, [2, file], 3)]
    }

    /// The bytes of a block of a file, which is there as a whole.
    pub(crate) fn block(&self, file: usize) -> u64 {
        if random(self.seed, [3, file as u64]).is_multiple_of(2) { 512 } else { 4096 }
    }

    /// A number in a range, often one of its ends.
    pub(crate) fn between(&self, low: usize, high: usize, salt: [u64; 2]) -> usize {
        match random(self.seed ^ 5, salt) % 4 {
            0 => low,
            1 => high,
            _ => low + pick(self.seed, salt, high - low),
        }
    }
}

/// A number up to this one, decided by a seed and two more numbers.
pub(crate) fn pick(seed: u64, salt: [u64; 2], max: usize) -> usize {
    let count = max as u64 + 1;
    usize::try_from(random(seed, salt) % count).unwrap_or(max)
}

fn random(seed: u64, [a, b]: [u64; 2]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = Rng::new(seed.wrapping_add(a.wrapping_mul(ODD))).next_u64();
    Rng::new(mixed.wrapping_add(b.wrapping_mul(ODD))).next_u64()
}
