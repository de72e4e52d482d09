//! The objects that clients write to: few, so that clients meet, in buckets of different rules.

use alula_store::engine::{BucketName, ObjectName};
use alula_store::model::Rules;

/// A bucket and its rules.
pub(crate) struct Bucket {
    name: &'static [u8],
    pub(crate) rules: Rules,
}

const SIBLINGS: Rules =
    Rules { allow_mult: true, last_write_wins: false, siblings_max: 8, bytes_max: 1 << 20 };

pub(crate) const BUCKETS: [Bucket; 4] = [
    Bucket { name: b"siblings", rules: SIBLINGS },
    Bucket { name: b"few", rules: Rules { siblings_max: 3, ..SIBLINGS } },
    Bucket { name: b"single", rules: Rules { allow_mult: false, ..SIBLINGS } },
    Bucket { name: b"last", rules: Rules { last_write_wins: true, ..SIBLINGS } },
];

/// The keys of each bucket.
const KEYS: [&[u8]; 2] = [b"one", b"two"];

/// One of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(usize);

impl Key {
    pub(crate) const COUNT: usize = BUCKETS.len() * KEYS.len();

    pub(crate) const fn new(number: usize) -> Self {
        Self(number % Self::COUNT)
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    pub(crate) const fn number(self) -> usize {
        self.0
    }

    pub(crate) const fn bucket(self) -> &'static Bucket {
        &BUCKETS[self.0 / KEYS.len()]
    }

    pub(crate) const fn name(self) -> ObjectName<'static> {
        self.bucket().name().object(KEYS[self.0 % KEYS.len()])
    }

    /// Returns true if a write leaves nothing of what was stored, whatever its context.
    pub(crate) const fn has_one_content(self) -> bool {
        let rules = &self.bucket().rules;
        !rules.allow_mult || rules.last_write_wins
    }
}

impl Bucket {
    pub(crate) const fn name(&self) -> BucketName<'static> {
        BucketName { bucket_type: b"default", bucket: self.name }
    }
}
