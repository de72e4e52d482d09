//! The marks of writes: dots of one actor, random tokens, and the clock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use super::Mark;
use crate::model::{Actor, Dots, Moment, Vtag};

/// An actor from its start to its end.
#[derive(Debug)]
pub(super) struct Marks {
    dots: Dots,
    /// A half of each token; the other half is the count of writes, mixed.
    seed: u64,
    count: AtomicU64,
}

impl Marks {
    /// Creates an actor with a new random number.
    ///
    /// # Panics
    /// The system gives no random bytes.
    pub(super) fn new() -> Self {
        let mut random = [[0; 8]; 3];
        random.iter_mut().for_each(|bytes| getrandom::fill(bytes).expect("random bytes of the system"));
        let [actor, seed, count] = random.map(u64::from_ne_bytes);
        Self { dots: Dots::new(Actor::new(actor)), seed, count: AtomicU64::new(count) }
    }

    /// Returns the mark of the next write.
    ///
    /// # Panics
    /// After 2^64 - 2 writes.
    pub(super) fn next(&self) -> Mark {
        let dot = self.dots.next().expect("no process makes 2^64 writes");
        let token = u128::from(mixed(self.seed ^ dot.count())) << 64
            | u128::from(mixed(self.count.fetch_add(1, Relaxed)));
        Mark { dot, vtag: Vtag::from_bits(token), now: now() }
    }
}

/// Mixes a number into another one whose bits depend on all bits of it, without collisions (the finalizer of
/// SplitMix64).
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Returns the time of the system's clock. Before 1970 it is 1970: the model keeps times of an object
/// ascending.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(since.as_micros() as u64)
}
